// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// open starts a primary that answers by itself, and Caddy with an access log
// and a tee in front of it.
func open(t *testing.T, primary http.HandlerFunc, options string) (addr string, shadow *upstream) {
	addr, shadow, _ = openLogged(t, primary, options)
	return addr, shadow
}

func openLogged(t *testing.T, primary http.HandlerFunc, options string) (addr string, shadow *upstream, server *caddytest.Server) {
	bare := newBareServer(t, primary)
	shadow = newUpstream(t, nil)
	addr = caddytest.Addr(t)
	return addr, shadow, caddytest.Run(t, teeSite(t, addr, bare, shadow.URL, options+"\n}\nlog {"))
}

func TestWebSocketPassesAndIsNotCopied(t *testing.T) {
	addr, shadow, server := openLogged(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, message, err := conn.Read(r.Context())
			if err != nil || conn.Write(r.Context(), kind, message) != nil {
				return
			}
		}
	}, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://"+addr+"/echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		message := fmt.Appendf(nil, "message %d", i)
		if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
			t.Fatal(err)
		}
		if _, got, err := conn.Read(ctx); err != nil || !bytes.Equal(got, message) {
			t.Fatalf("got %q, error %v; want %q", got, err, message)
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
	eventually(t, "the access log", func() (string, bool) {
		logs := server.Logs()
		return logs, strings.Contains(logs, `"status":101`)
	})
	waitOutcome(t, shadow.URL, "dropped_unsupported", 1)
	if shadow.count() != 0 {
		t.Error("the upgrade was copied")
	}
}

func TestOfferOfH2CIsNoUpgrade(t *testing.T) {
	addr, shadow := open(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }, "")
	speak(t, addr, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n")
	header := shadow.wait(1)[0].header
	if header.Get("Upgrade") != "" || header.Get("HTTP2-Settings") != "" || header.Get("Connection") != "" {
		t.Errorf("shadow got %v", header)
	}
}

func TestEventsArriveAsTheyAreSent(t *testing.T) {
	send := make(chan string)
	addr, shadow := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for event := range send {
			fmt.Fprintf(w, "data: %s\n\n", event)
			_ = http.NewResponseController(w).Flush()
		}
	}, "")
	resp := make(chan *http.Response, 1)
	go func() {
		r, err := http.Get("http://" + addr + "/events")
		if err != nil {
			t.Error(err)
			return
		}
		resp <- r
	}()
	send <- "first"
	stream := next(t, resp).Body
	defer stream.Close()
	for _, event := range []string{"first", "second", "third"} {
		if event != "first" {
			send <- event
		}
		got := make([]byte, len("data: \n\n")+len(event))
		if _, err := io.ReadFull(stream, got); err != nil || string(got) != "data: "+event+"\n\n" {
			t.Fatalf("got %q, error %v", got, err)
		}
	}
	shadow.wait(1) // although the stream has not ended
	close(send)
}

func TestLargeTransfersPass(t *testing.T) {
	const size = 100 << 20
	block := []byte(bytesOf(1 << 20))
	blocks := func() io.Reader {
		readers := make([]io.Reader, size/len(block))
		for i := range readers {
			readers[i] = bytes.NewReader(block)
		}
		return io.MultiReader(readers...)
	}
	sum := sha256.New()
	_, _ = io.Copy(sum, blocks())
	want := fmt.Sprintf("%x", sum.Sum(nil))

	addr, shadow := open(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = io.Copy(w, blocks())
			return
		}
		sum := sha256.New()
		_, _ = io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%x", sum.Sum(nil))
	}, "")
	if status, got := post(t, http.DefaultClient, "http://"+addr, unknownLength{blocks()}); status != 200 || got != want {
		t.Errorf("upload: client got %d %s", status, got)
	}
	waitOutcome(t, shadow.URL, "dropped_body_size", 1)
	resp, err := http.Get("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	down := sha256.New()
	if n, err := io.Copy(down, resp.Body); err != nil || n != size || fmt.Sprintf("%x", down.Sum(nil)) != want {
		t.Errorf("download: client got %d bytes, error %v", n, err)
	}
	shadow.wait(1)
}

func TestPrimaryReadsWhileTheClientSends(t *testing.T) {
	first := make(chan string, 1)
	addr, shadow := open(t, func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 1024)
		_, _ = io.ReadFull(r.Body, chunk)
		first <- string(chunk)
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, 1024+n)
	}, "max_body 4KiB")
	body, pen := io.Pipe()
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Post("http://"+addr, "", body)
		if err != nil {
			t.Error(err)
			return
		}
		_, text := drain(t, resp)
		answer <- text
	}()
	chunk := strings.Repeat("c", 1024)
	_, _ = io.WriteString(pen, chunk)
	if got := next(t, first); got != chunk {
		t.Errorf("primary read %q", got)
	}
	for range 9 {
		_, _ = io.WriteString(pen, chunk)
	}
	pen.Close()
	if got := next(t, answer); got != "10240" {
		t.Errorf("client got %s", got)
	}
	waitOutcome(t, shadow.URL, "dropped_body_size", 1)
	if shadow.count() != 0 {
		t.Error("a part of the body was copied")
	}
}

func TestBrokenOffBodyIsNotCopied(t *testing.T) {
	reading := make(chan struct{})
	addr, shadow := open(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 3))
		close(reading)
		_, _ = io.Copy(io.Discard, r.Body)
	}, "")
	conn, _ := dial(t, addr)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nabc")
	next(t, reading)
	conn.Close()
	waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
	if shadow.count() != 0 {
		t.Error("a part of the body was copied")
	}
}

func TestClientThatLeavesIsCopied(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	addr, shadow := open(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-release
	}, "")
	defer close(release)
	conn, _ := dial(t, addr)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
	next(t, arrived)
	conn.Close()
	if got := shadow.wait(1)[0].body; got != "abc" {
		t.Errorf("shadow got %q", got)
	}
}

func TestDeadPrimaryIsA502AndCopied(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string { return teeSite(t, addr, refusing, shadow.URL, "") })
	for i, body := range []string{"", "abc", strings.Repeat("x", 100<<10)} {
		if status, _ := post(t, http.DefaultClient, "http://"+addr, strings.NewReader(body)); status != 502 {
			t.Errorf("client got %d", status)
		}
		if got := shadow.wait(i + 1)[i]; got.sum != sumOf(body) {
			t.Errorf("shadow got %d bytes of %d", got.size, len(body))
		}
	}
}

func TestRequestBodyLimitOfCaddyHolds(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.URL, "max_body 10MiB\n}\nrequest_body {\nmax_size 5MB")
	})
	small := bytesOf(2 << 20)
	if status, _ := post(t, http.DefaultClient, "http://"+addr, strings.NewReader(small)); status != 200 {
		t.Errorf("2 MiB: client got %d", status)
	}
	shadow.waitFor(sumOf(small))
	resp, err := http.Post("http://"+addr, "", unknownLength{strings.NewReader(bytesOf(6 << 20))})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, resp)
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("6 MiB: client got %d", resp.StatusCode)
	}
	waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
	if shadow.count() != 1 {
		t.Error("a part of the body was copied")
	}
}

func TestExpectContinue(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		// forwarding Expect makes reverse_proxy forward its upstream's 100 as well
		return site(addr, fmt.Sprintf("tee %s {\nmax_body 4MiB\ntimeout 20s\n}\nreverse_proxy %s {\nheader_up -Expect\n}", shadow.URL, primary.addr()))
	})
	continues := 0
	sent := bytesOf(2 << 20)
	req, _ := http.NewRequest(http.MethodPost, "http://"+addr, strings.NewReader(sent))
	req.Header.Set("Expect", "100-continue")
	trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { continues++; return nil }}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: patience}}
	resp, err := client.Do(req.WithContext(httptrace.WithClientTrace(t.Context(), trace)))
	if err != nil {
		t.Fatal(err)
	}
	if _, got := drain(t, resp); got != sumOf(sent) || continues != 1 {
		t.Errorf("client got %s after %d times 100", got, continues)
	}
	if copied := shadow.waitFor(sumOf(sent)); copied.header.Get("Expect") != "" {
		t.Error("the copy has Expect")
	}
}

// Reading on would ask a client for a body that the primary does not want.
func TestUnwantedBodyIsNotAskedFor(t *testing.T) {
	for name, primary := range map[string]string{
		"refuses":          "header Connection close\nrespond no 401",
		"hides its Expect": "request_header -Expect\nheader Connection close\nerror 401",
	} {
		t.Run(name, func(t *testing.T) {
			shadow := newUpstream(t, nil)
			_, addr := run(t, func(addr string) string {
				return site(addr, fmt.Sprintf("route {\ntee %s {\nname %s\n}\n%s\n}", shadow.URL, teeName(t), primary))
			})
			conn, br := dial(t, addr)
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
			resp, err := http.ReadResponse(br, nil)
			if err != nil || resp.StatusCode != 401 {
				t.Fatalf("client got %v, error %v", resp, err)
			}
			waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
		})
	}
}

func TestInterimResponsesHeadAndTrailersPass(t *testing.T) {
	addr, shadow := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("X-Request-Sum", r.Trailer.Get("X-Sum"))
		fmt.Fprint(w, "body")
		w.Header().Set("X-Sum", "42")
	}, "")
	hints := 0
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		if code == http.StatusEarlyHints {
			hints++
		}
		return nil
	}}
	req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, "http://"+addr, unknownLength{strings.NewReader("abc")})
	req.Trailer = http.Header{"X-Sum": {"7"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, body := drain(t, resp)
	if body != "body" || hints != 1 || resp.Trailer.Get("X-Sum") != "42" || resp.Header.Get("X-Request-Sum") != "7" {
		t.Errorf("client got %q, %d hints, trailer %v, header %v", body, hints, resp.Trailer, resp.Header)
	}
	copied := shadow.wait(1)[0]
	if copied.body != "abc" || !copied.chunked || !reflect.DeepEqual(copied.trailer, http.Header{"X-Sum": {"7"}}) {
		t.Errorf("shadow got %+v", copied)
	}

	resp, err = http.Head("http://" + addr)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("HEAD: got %v, error %v", resp, err)
	}
	if got := shadow.wait(2)[1]; got.method != http.MethodHead {
		t.Errorf("shadow got %s", got.method)
	}
	waitOutcome(t, shadow.URL, "sent_2xx", 2)
}

func TestHTTP10(t *testing.T) {
	addr, shadow := open(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	}, "")
	for i, request := range []string{
		"GET /old HTTP/1.0\r\n\r\n",
		"GET /old HTTP/1.0\r\nHost: a.test\r\nConnection: close\r\n\r\n",
		"POST /old HTTP/1.0\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc",
	} {
		if status, _ := speak(t, addr, request); status != 200 {
			t.Errorf("client got %d", status)
		}
		if got := shadow.wait(i + 1)[i]; got.target != "/old" || got.header.Get("Connection") != "" {
			t.Errorf("shadow got %+v", got)
		}
	}
	if got := shadow.wait(3)[2].body; got != "abc" {
		t.Errorf("shadow got %q", got)
	}
}

func TestBodyOff(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string { return teeSite(t, addr, primary.addr(), shadow.URL, "body off\nmax_body 4") })
	for i, body := range []io.Reader{strings.NewReader("hello world"), unknownLength{strings.NewReader("hello world")}} {
		post(t, http.DefaultClient, "http://"+addr, body)
		if got := primary.wait(i + 1)[i].body; got != "hello world" {
			t.Errorf("primary got %q", got)
		}
		if got := shadow.wait(i + 1)[i]; got.size != 0 || got.length != 0 || got.chunked {
			t.Errorf("shadow got %+v", got)
		}
	}
}

func TestLargeBodiesAreSkippedWhole(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	for limit, option := range map[int]string{1 << 20: "", 20 << 20: "max_body 20MiB"} {
		t.Run(option, func(t *testing.T) {
			server, addr := run(t, func(addr string) string {
				return teeSite(t, addr, primary.addr(), shadow.URL, "timeout 20s\n"+option)
			})
			skipped := 0
			for _, size := range []int{1<<20 - 1, 1 << 20, 1<<20 + 1, 12 << 20} {
				for _, chunked := range []bool{false, true} {
					sent := bytesOf(size)
					body := io.Reader(strings.NewReader(sent))
					if chunked {
						body = unknownLength{body}
					}
					if status, got := post(t, http.DefaultClient, "http://"+addr, body); status != 200 || got != sumOf(sent) {
						t.Fatalf("%d bytes: client got %d %s", size, status, got)
					}
					if size <= limit {
						shadow.waitFor(sumOf(sent))
					} else {
						skipped++
						waitOutcome(t, shadow.URL, "dropped_body_size", skipped)
					}
				}
			}
			if n := strings.Count(server.Logs(), "larger than max_body"); n != min(skipped, 1) {
				t.Errorf("%d warnings about %d skipped", n, skipped)
			}
		})
	}
}

// A goroutine of the primary that waits for the client does not keep the
// connection of an aborted response open.
func TestAbortedResponseEndsAtOnce(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\n}\ntest_trouble \"leave a reader\"", shadow.URL, teeName(t)))
	})
	conn, br := dial(t, addr)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nabc")
	if _, err := br.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("client got error %v, want the end of the connection", err)
	}
	waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
}

// A primary that asks for it may answer over HTTP/1 while it reads.
func TestFullDuplex(t *testing.T) {
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\n}\ntest_trouble echo", shadow.URL, teeName(t)))
	})
	conn, br := dial(t, addr)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\n")
	for i, part := range []string{"one", "two", "six"} {
		_, _ = io.WriteString(conn, part)
		if i == 0 {
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			br = bufio.NewReader(resp.Body)
		}
		got := make([]byte, len(part))
		if _, err := io.ReadFull(br, got); err != nil || string(got) != part {
			t.Fatalf("got %q, error %v; want %q", got, err, part)
		}
	}
	if got := shadow.wait(1)[0].body; got != "onetwosix" {
		t.Errorf("shadow got %q", got)
	}
}
