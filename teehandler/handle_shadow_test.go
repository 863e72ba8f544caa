// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// awaiting is told by handlers that await the shutdown of their server.
var awaiting = make(chan struct{})

// trouble is a handler that behaves as its kind names.
type trouble struct {
	Kind string `json:"kind,omitempty"`
}

func (trouble) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_trouble", New: func() caddy.Module { return new(trouble) }}
}

func (h trouble) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	switch h.Kind {
	case "late":
		time.Sleep(100 * time.Millisecond)
		return next.ServeHTTP(w, r)
	case "await shutdown":
		awaiting <- struct{}{}
		for deadline := time.Now().Add(patience); !w.(*guardedWriter).shutdown.begun.Load() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		return next.ServeHTTP(w, r)
	case "leave a writer":
		go func() {
			for range 100 {
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write([]byte("late"))
			}
		}()
	case "leave a reader":
		reading, body := make(chan struct{}), r.Body
		go func() {
			_, _ = io.ReadFull(body, make([]byte, 3))
			close(reading)
			_, _ = io.Copy(io.Discard, body)
		}()
		<-reading
		panic(http.ErrAbortHandler)
	case "echo":
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil {
			return err
		}
		for chunk := make([]byte, 100); ; {
			n, err := r.Body.Read(chunk)
			_, _ = w.Write(chunk[:n])
			_ = control.Flush()
			if err != nil {
				return nil //nolint:nilerr // the end is no error
			}
		}
	case "panic":
		panic("no good")
	case "abort":
		panic(http.ErrAbortHandler)
	case "error":
		return errors.New("no good")
	case "hang":
		<-r.Context().Done()
		return r.Context().Err()
	case "hijack":
		_, _, err := http.NewResponseController(w).Hijack() //nolint:bodyclose
		return err
	case "endless":
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
	return nil // says nothing
}

func init() {
	caddy.RegisterModule(trouble{})
	httpcaddyfile.RegisterHandlerDirective("test_trouble", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		var t trouble
		h.Args(&t.Kind)
		return &t, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("test_trouble", httpcaddyfile.Before, "respond")
}

func TestHandlersInTrouble(t *testing.T) {
	for kind, outcome := range map[string]string{
		"panic": "failed_panic", "abort": "failed_handler", "error": "failed_handler", "hang": "timed_out",
		"hijack": "failed_handler", "endless": "sent_2xx", "silent": "sent_2xx", "\"leave a writer\"": "sent_2xx",
	} {
		t.Run(kind, func(t *testing.T) {
			server, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("tee {\nname %s\ntimeout 1s\nhandle {\ntest_trouble %s\n}\n}\nrespond ok", teeName(t), kind))
			})
			for range 5 {
				if status, body := get(t, http.DefaultClient, "http://"+addr); status != 200 || body != "ok" {
					t.Errorf("client got %d %q", status, body)
				}
			}
			counts := waitAccounted(t, "handle", 5)
			for got := range counts {
				if got != outcome && got != "timed_out" { // a busy machine may be late
					t.Errorf("a copy is %s", got)
				}
			}
			if counts[outcome] == 0 {
				t.Errorf("outcomes are %v, want %s", counts, outcome)
			}
			if logged := strings.Contains(server.Logs(), `"stack":"`); logged != (kind == "panic") {
				t.Errorf("a stack was logged: %v", logged)
			}
		})
	}
}

func TestHandlersSeeTheRequest(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf(`route {
vars secret of_the_primary
tee {
	handle {
		@wanted path /wanted/*
		route @wanted {
			request_header X-Seen "{http.request.method} {http.request.orig_uri} {http.request.host} {http.request.proto} {client_ip} {http.vars.secret}"
			reverse_proxy %s
		}
	}
}
uri replace /wanted /rewritten
respond ok
}`, shadow.addr()))
	})
	speak(t, addr, "POST /wanted/a%2Fb?c;d HTTP/1.1\r\nHost: a.test\r\nX-Many: 1\r\nX-Many: 2\r\nContent-Length: 3\r\n\r\nabc")
	get(t, http.DefaultClient, "http://"+addr+"/other")
	got := shadow.wait(1)[0]
	if got.target != "/wanted/a%2Fb?c;d" || got.body != "abc" || got.length != 3 || got.host != "a.test" || len(got.header["X-Many"]) != 2 {
		t.Errorf("shadow got %+v", got)
	}
	if seen := got.header.Get("X-Seen"); seen != "POST /wanted/a%2Fb?c;d a.test HTTP/1.1 127.0.0.1" {
		t.Errorf("placeholders gave %q", seen)
	}
}

func TestHandlersMaySpeakHTTP2(t *testing.T) {
	shadow := newUpstream(t, nil)
	proto := make(chan string, 10)
	addrH2 := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		proto <- r.Proto
		shadow.Config.Handler.ServeHTTP(w, r)
	})
	primary := newUpstream(t, nil)
	body := fmt.Sprintf("tee {\ntimeout 20s\nhandle {\nreverse_proxy h2c://%s\n}\n}\nreverse_proxy %s", addrH2, primary.addr())
	everyProtocol(t, body, func(t *testing.T, client *http.Client, url string) {
		sent := bytesOf(100 << 10)
		if _, got := post(t, client, url, unknownLength{io.MultiReader(strings.NewReader(sent[:10]), strings.NewReader(sent[10:]))}); got != sumOf(sent) {
			t.Errorf("client got %s", got)
		}
		shadow.waitFor(sumOf(sent))
		if got := next(t, proto); got != "HTTP/2.0" {
			t.Errorf("shadow got %s", got)
		}
	})
}

// gRPC servers answer only clients that take trailers.
func TestHandlersKnowWhetherTrailersAreTaken(t *testing.T) {
	for option, want := range map[string][]string{"": {"trailers"}, "header_up X-Shadow 1": {"trailers"}, "header_up -Te": nil, "header_up Te gzip": nil} {
		t.Run(option, func(t *testing.T) {
			shadow := newUpstream(t, nil)
			_, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("tee {\nname %s\n%s\nhandle {\nreverse_proxy %s\n}\n}\nrespond ok", teeName(t), option, shadow.addr()))
			})
			speak(t, addr, "GET /taken HTTP/1.1\r\nHost: a.test\r\nTE: gzip, trailers\r\nConnection: TE, X-Drop\r\nX-Drop: 1\r\nKeep-Alive: 1\r\n\r\n")
			speak(t, addr, "GET /not HTTP/1.1\r\nHost: a.test\r\nTE: gzip\r\nConnection: TE\r\n\r\n")
			for _, copied := range shadow.wait(2) {
				expected := want
				if copied.target == "/not" {
					expected = nil
				}
				if got := copied.header["Te"]; !slices.Equal(got, expected) {
					t.Errorf("%s: shadow got TE %q, want %q", copied.target, got, expected)
				}
				if copied.header.Get("X-Drop") != "" || copied.header.Get("Connection") != "" {
					t.Errorf("shadow got %v", copied.header)
				}
			}
		})
	}
}

func TestOnlyStatus(t *testing.T) {
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		if status != 200 {
			w.WriteHeader(status)
		}
		if status == 200 {
			fmt.Fprint(w, "ok")
		}
	})
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary, shadow.URL, "only_status 2xx 304\nonly_status 502")
	})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, status := range []int{200, 204, 301, 304, 404, 500, 502} {
		post(t, client, fmt.Sprintf("http://%s/%d", addr, status), strings.NewReader("abc"))
		get(t, client, fmt.Sprintf("http://%s/%d", addr, status))
	}
	var targets []string
	for _, r := range shadow.wait(8) {
		targets = append(targets, r.target)
	}
	for _, want := range []string{"/200", "/204", "/304", "/502"} {
		if n := strings.Count(strings.Join(targets, " "), want); n != 2 {
			t.Errorf("%s was copied %d times, want 2", want, n)
		}
	}
	waitOutcome(t, shadow.URL, "dropped_status", 6)
}

func TestOnlyStatusOfErrors(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\nonly_status 418\n}\nerror /418 418\nrespond ok", shadow.URL, teeName(t)))
	})
	get(t, http.DefaultClient, "http://"+addr+"/418")
	get(t, http.DefaultClient, "http://"+addr+"/200")
	waitOutcome(t, shadow.URL, "dropped_status", 1)
	if got := shadow.wait(1)[0].target; got != "/418" {
		t.Errorf("shadow got %s", got)
	}
}

// A primary that aborts has no status that could be wanted.
func TestOnlyStatusOfAbortedResponses(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\nonly_status 2xx 3xx 4xx 5xx\n}\n@body method POST\ntest_trouble @body \"leave a reader\"\ntest_trouble abort", shadow.URL, teeName(t)))
	})
	for _, tc := range []struct {
		request, outcome string
		n                int
	}{
		{"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "dropped_status", 1},
		{"POST /whole HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", "dropped_status", 2},
		{"POST /part HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nabc", "dropped_body_incomplete", 1},
	} {
		conn, br := dial(t, addr)
		fmt.Fprint(conn, tc.request)
		if _, err := br.ReadByte(); err == nil {
			t.Error("client got a response")
		}
		waitOutcome(t, shadow.URL, tc.outcome, tc.n)
	}
}
