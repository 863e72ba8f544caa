// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// seen is what a server got of a request.
type seen struct {
	method, target, host, body string
	fields                     http.Header
	trailers                   http.Header
	length                     int64
}

func TestRequestsArriveAsRecorded(t *testing.T) {
	bytesOf := func() string {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		return strings.Repeat(string(all), 5)
	}()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			got := make(chan seen, 1)
			target := w.serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Errorf("reading body: %v", err)
				}
				got <- seen{r.Method, r.RequestURI, r.Host, string(body), r.Header, r.Trailer, r.ContentLength}
			}))
			client := newClient(t, target, w.options)
			for _, tc := range []struct {
				method, target, body string
				length               int64
				fields               []string
			}{
				{"GET", "/plain", "", 0, []string{"Host: shop.test", "Accept: */*"}},
				{"GET", "/s?p=%2B%2B&p=+&z=1&a=2&p=", "", 0, []string{"Host: shop.test"}},
				{"GET", "/cgi?a=1;b=2&c=%3B&d", "", 0, []string{"Host: shop.test"}},
				{"GET", "//double//a/../b/./%2F%2f%00", "", 0, []string{"Host: shop.test"}},
				{"GET", "/?", "", 0, []string{"Host: shop.test"}},
				{"OPTIONS", "*", "", 0, []string{"Host: shop.test"}},
				{"BAN", "/any", "", 0, []string{"Host: shop.test"}},
				{"get", "/lower", "", 0, []string{"Host: shop.test"}},
				{"GET", "/body", "of a GET", 8, []string{"Host: shop.test", "Content-Length: 8"}},
				{"POST", "/empty", "", 0, []string{"Host: shop.test", "Content-Length: 0"}},
				{"POST", "/wrong-length", "12345", 5, []string{"Host: shop.test", "Content-Length: 99"}},
				{"POST", "/no-length", "12345", 5, []string{"Host: shop.test"}},
				{"POST", "/binary", bytesOf, int64(len(bytesOf)), []string{"Host: shop.test", "Content-Length: 1280", "Content-Encoding: gzip"}},
				{"PUT", "/large", strings.Repeat("large ", 1<<20), 6 << 20, []string{"Host: shop.test", "Content-Length: 1"}},
				{"POST", "/chunked", "in chunks", -1, []string{"Host: shop.test", "Transfer-Encoding: chunked"}},
				{"POST", "/both", "in chunks", -1, []string{"Host: shop.test", "Content-Length: 4", "Transfer-Encoding: chunked"}},
				{"POST", "/continue", "at once", 7, []string{"Host: shop.test", "Expect: 100-continue", "Content-Length: 7"}},
				{"GET", "/cookies", "", 0, []string{"Host: shop.test", "Cookie: id=1; id=2; =x; bad"}},
				{"GET", "/latin1", "", 0, []string{"Host: shop.test", "X-Name: Caf\xe9"}},
				{"GET", "/repeated", "", 0, []string{"Host: shop.test", "X-A: 1", "X-B: 2", "X-A: 3"}},
				{"GET", "/no-host", "", 0, nil},
			} {
				if isHTTP2(w) && tc.method == "get" {
					continue // net/http's server takes it, but makes it GET's own
				}
				answer := mustSend(t, client, record(tc.method, tc.target, tc.body, tc.fields...))
				s := next(t, got)
				wantHost := "shop.test"
				if tc.fields == nil {
					wantHost = target.Host
				}
				if answer.Status != 200 || s.method != tc.method || s.target != tc.target || s.host != wantHost || s.body != tc.body {
					t.Errorf("%s %s: status %d, got %s %s of %s with %d bytes %x", tc.method, tc.target, answer.Status,
						s.method, s.target, s.host, len(s.body), sha256.Sum256([]byte(s.body)))
				}
				if s.length != tc.length {
					t.Errorf("%s: got length %d, want %d", tc.target, s.length, tc.length)
				}
				for _, line := range tc.fields {
					name, value, _ := strings.Cut(line, ": ")
					switch name {
					case "Host", "Content-Length", "Transfer-Encoding":
					case "Expect": // net/http's HTTP/2 keeps it to itself
					default:
						if !strings.Contains(strings.Join(s.fields[http.CanonicalHeaderKey(name)], "|"), value) {
							t.Errorf("%s: got fields %q, want %q", tc.target, s.fields, line)
						}
					}
				}
				for _, extra := range []string{"User-Agent", "Accept-Encoding", "Connection"} {
					if s.fields[extra] != nil && !w.options.NoKeepAlive {
						t.Errorf("%s: %s: %q was added", tc.target, extra, s.fields[extra])
					}
				}
			}
		})
	}
}

func TestTrailersArrive(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			got := make(chan http.Header, 1)
			target := w.serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				got <- r.Trailer
			}))
			r := record("POST", "/", "body", "Host: a", "Transfer-Encoding: chunked", "Trailer: X-Sum")
			r.Trailers = []byte("X-Sum: 42\r\n")
			mustSend(t, newClient(t, target, w.options), r)
			if trailer := next(t, got); trailer.Get("X-Sum") != "42" {
				t.Errorf("got trailers %v", trailer)
			}
		})
	}
}

func TestAnswersAreReadToTheirEnds(t *testing.T) {
	const large = 3 << 20
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/304":
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusNotModified)
		case "/interim":
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusProcessing)
			fmt.Fprint(w, "final")
		case "/large":
			w.Write(make([]byte, large))
		case "/length":
			w.Header().Set("Content-Length", fmt.Sprint(large))
			w.Write(make([]byte, large))
		case "/head":
			w.Header().Set("Content-Length", "12345")
		case "/trailers":
			w.Header().Set("Trailer", "X-Sum")
			fmt.Fprint(w, "body")
			w.Header().Set("X-Sum", "1")
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
			w.Write(make([]byte, 4096))
		case "/302":
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		case "/fields":
			w.Header().Set("X-Long", strings.Repeat("x", 40<<10))
			w.Header()["Set-Cookie"] = []string{"a=b", "=", "c"}
		}
	})
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			target := w.serve(t, handler)
			client := newClient(t, target, w.options)
			for _, tc := range []struct {
				method, target string
				status         int
				atLeast        int64
			}{
				{"GET", "/204", 204, 0},
				{"GET", "/304", 304, 0},
				{"GET", "/interim", 200, 5},
				{"HEAD", "/head", 200, 0},
				{"GET", "/large", 200, large},
				{"GET", "/length", 200, large},
				{"GET", "/trailers", 200, 4},
				{"GET", "/500", 500, 4096},
				{"GET", "/302", 302, 0},
				{"GET", "/fields", 200, 0},
				{"POST", "/204", 204, 0},
			} {
				answer := mustSend(t, client, record(tc.method, tc.target, "", "Host: a"))
				if answer.Status != tc.status || answer.Received < tc.atLeast {
					t.Errorf("%s: got status %d and %d bytes", tc.target, answer.Status, answer.Received)
				}
			}
			want := int64(1)
			if w.options.NoKeepAlive {
				want = 11
			}
			if opened := client.dialer.Opened(); opened != want {
				t.Errorf("%d connections were opened, want %d", opened, want)
			}
		})
	}
}

func TestAnAnswerMayComeBeforeTheBodyHasGone(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			target := w.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusRequestEntityTooLarge)
				}
			}))
			client := newClient(t, target, w.options)
			for range 3 {
				answer := mustSend(t, client, record("POST", "/", strings.Repeat("x", 4<<20), "Host: a", "Content-Length: 1"))
				if answer.Status != 413 {
					t.Fatalf("got status %d", answer.Status)
				}
				if answer := mustSend(t, client, record("GET", "/", "", "Host: a")); answer.Status != 200 {
					t.Fatalf("got status %d after it", answer.Status)
				}
			}
		})
	}
}

func TestTimeoutBoundsTheWholeAnswer(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		w.Write(bytes.Repeat([]byte("x"), 100))
		http.NewResponseController(w).Flush()
		if r.URL.Path == "/dribble" {
			<-r.Context().Done()
		}
	})
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			options := w.options
			options.Timeout = 250 * time.Millisecond
			target := w.serve(t, handler)
			for _, path := range []string{"/silent", "/dribble"} {
				client := newClient(t, target, options)
				_, err := client.Send(message(t, record("GET", path, "", "Host: a")), time.Now())
				if err == nil || http1.KindOf(err) != http1.Timeout {
					t.Errorf("%s: got error %v, want a timeout", path, err)
				}
			}
		})
	}
}

func TestTheEndOfTheRunInterrupts(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			arrived := make(chan struct{})
			target := w.serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(arrived); <-r.Context().Done() }))
			client := newClient(t, target, w.options)
			end := make(chan struct{})
			ctx, cancel := contextUntil(end)
			defer cancel()
			client.ctx = ctx
			go func() { <-arrived; close(end) }()
			_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
			if err == nil || http1.KindOf(err) != http1.Interrupted {
				t.Errorf("got error %v, want an interruption", err)
			}
		})
	}
}

func TestAConnectionThatEndedWhileIdleIsReplaced(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			var requests atomic.Int64
			target := w.serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("Connection", "close")
			}))
			client := newClient(t, target, w.options)
			for range 5 {
				if answer := mustSend(t, client, record("POST", "/", "x", "Host: a")); answer.Status != 200 {
					t.Fatalf("got status %d", answer.Status)
				}
			}
			if n := requests.Load(); n != 5 {
				t.Errorf("the server got %d requests, want 5", n)
			}
		})
	}
}
