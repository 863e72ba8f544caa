// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// bytesOf makes a body that no two tests share.
func bytesOf(n int) string {
	var seed [32]byte
	binary.NativeEndian.PutUint64(seed[:], rand.Uint64())
	chars := make([]byte, n)
	_, _ = rand.NewChaCha8(seed).Read(chars)
	return string(chars)
}

func sumOf(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }

// unknownLength hides the length of a body, so that it goes out in chunks.
type unknownLength struct{ io.Reader }

// clients returns a client per protocol, all for the same two sites.
func clients(t *testing.T) map[string]*http.Client {
	insecure := &tls.Config{InsecureSkipVerify: true}
	h2c := &http.Transport{Protocols: new(http.Protocols)}
	h2c.Protocols.SetUnencryptedHTTP2(true)
	h2 := &http.Transport{TLSClientConfig: insecure.Clone(), Protocols: new(http.Protocols)}
	h2.Protocols.SetHTTP2(true)
	h3 := &http3.Transport{TLSClientConfig: insecure.Clone()}
	t.Cleanup(func() { h3.Close() })
	return map[string]*http.Client{
		"HTTP/1.1": {Transport: &http.Transport{DisableCompression: true}},
		"h2c":      {Transport: h2c},
		"h2":       {Transport: h2},
		"h3":       {Transport: h3},
	}
}

// everyProtocol runs Caddy with a site for HTTP/1.1 and h2c and one for h2 and
// h3, both with the same body, and calls f for each protocol.
func everyProtocol(t *testing.T, body string, f func(t *testing.T, client *http.Client, url string)) {
	plain, secure := caddytest.Addr(t), caddytest.Addr(t)
	_, port, _ := net.SplitHostPort(secure)
	cert, key := certificate(t)
	caddytest.Run(t, fmt.Sprintf(`{
	auto_https disable_redirects
	servers %s {
		protocols h1 h2c
	}
}
http://%s {
	bind 127.0.0.1
	%s
}
https://localhost:%s {
	bind 127.0.0.1
	tls %s %s
	%s
}
`, plain, plain, body, port, cert, key, body))
	for proto, client := range clients(t) {
		url := "http://" + plain
		if proto == "h2" || proto == "h3" {
			url = "https://localhost:" + port
		}
		t.Run(strings.ReplaceAll(proto, "/", ""), func(t *testing.T) { f(t, client, url) })
	}
}

func TestBodiesAreTheSameOnBothSides(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	body := fmt.Sprintf("tee %s {\ntimeout 10s\n}\nreverse_proxy %s", shadow.URL, primary.URL)
	everyProtocol(t, body, func(t *testing.T, client *http.Client, url string) {
		for _, size := range []int{0, 3, 64 << 10, 1 << 20} {
			for _, chunked := range []bool{false, true} {
				before, sent := shadow.count(), bytesOf(size)
				reader := io.Reader(strings.NewReader(sent))
				if chunked {
					reader = unknownLength{reader}
				}
				status, answer := post(t, client, url, reader)
				if status != 200 || answer != sumOf(sent) {
					t.Fatalf("%d bytes: client got %d %q", size, status, answer)
				}
				copied := shadow.wait(before + 1)[before]
				if copied.sum != sumOf(sent) || copied.length != int64(size) || copied.chunked {
					t.Errorf("%d bytes, chunked %v: shadow got %d bytes, Content-Length %d", size, chunked, copied.size, copied.length)
				}
			}
		}
	})
}

func TestRequestsWithoutBodyAreCopiedWithoutBody(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	body := fmt.Sprintf("tee %s {\nmax_body 1KiB\n}\nreverse_proxy %s", shadow.URL, primary.URL)
	everyProtocol(t, body, func(t *testing.T, client *http.Client, url string) {
		before := shadow.count()
		get(t, client, url+"/page?a=1")
		copied := shadow.wait(before + 1)[before]
		if copied.target != "/page?a=1" || copied.size != 0 || copied.chunked || copied.header.Get("Content-Length") != "" {
			t.Errorf("shadow got %+v", copied)
		}
	})
}

// A primary that answers without reading leaves the body to the tee, whatever
// size its answer has.
func TestUnreadBodiesAreCopied(t *testing.T) {
	waitForTheRest(t)
	shadow := newUpstream(t, nil)
	for _, answer := range []string{"no", strings.Repeat("no ", 4000)} {
		t.Run(fmt.Sprint(len(answer)), func(t *testing.T) {
			body := fmt.Sprintf("tee %s {\ntimeout 10s\n}\nrespond %q", shadow.URL, answer)
			everyProtocol(t, body, func(t *testing.T, client *http.Client, url string) {
				for _, size := range []int{3, 100 << 10} {
					sent := bytesOf(size)
					status, got := post(t, client, url, strings.NewReader(sent))
					if status != 200 || got != answer {
						t.Fatalf("client got %d and %d bytes", status, len(got))
					}
					shadow.waitFor(sumOf(sent))
				}
			})
		})
	}
}

// waitForTheRest lets a busy machine take its time.
func waitForTheRest(t *testing.T) {
	grace, pause := restGrace, restPause
	restGrace, restPause = patience, patience
	t.Cleanup(func() { restGrace, restPause = grace, pause })
}

// net/http reads no more than 256 KiB of an unread body, answers, and closes
// the connection.
func TestLargeUnreadBodyOverHTTP1(t *testing.T) {
	waitForTheRest(t)
	shadow := newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, "tee "+shadow.URL+" {\nname "+teeName(t)+"\n}\nheader Content-Length 2\nrespond no 401")
	})
	for _, size := range []int{256 << 10, 300 << 10, 1 << 20, 1<<20 + 1} {
		for range 5 {
			sent := bytesOf(size)
			status, body, closed := sendThenRead(t, addr, sent)
			if status != 401 || body != "no" || closed != (size > 256<<10) {
				t.Fatalf("%d bytes: client got %d %q, connection closed %v", size, status, body, closed)
			}
			if size <= 1<<20 {
				shadow.waitFor(sumOf(sent))
			}
		}
	}
	waitOutcome(t, shadow.URL, "dropped_body_size", 5)
	waitOutcome(t, shadow.URL, "sent_2xx", 15)
}

// A client that has its response and sends no more of its body keeps neither the
// request, nor the connection if that is to end, nor a server that shuts down.
func TestUnfinishedUploadsEndSoon(t *testing.T) {
	const soon = 5 * time.Second // of 10 that a client may take that goes on sending
	for name, tc := range map[string]struct {
		proto, fields      string
		ends, reload, goes bool
	}{
		"stays":                     {"HTTP/1.1", "", false, false, false},
		"the server ends":           {"HTTP/1.1", "", true, true, false},
		"the client ends":           {"HTTP/1.1", "Connection: close\r\n", true, false, false},
		"the client ends, going on": {"HTTP/1.1", "Connection: close\r\n", true, false, true},
		"HTTP/1.0":                  {"HTTP/1.0", "", true, false, false},
		"HTTP/1.0, going on":        {"HTTP/1.0", "", true, false, true},
		"more than the server":      {"HTTP/1.1", "X: y\r\n", false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			shadow := newUpstream(t, nil)
			server, addr := run(t, func(addr string) string {
				return site(addr, "tee "+shadow.URL+" {\nname "+teeName(t)+"\n}\nheader Content-Length 2\nrespond no 413")
			})
			conn, br := dial(t, addr)
			length := 300 << 10
			if tc.fields == "X: y\r\n" {
				length = 900 << 10
			}
			start := time.Now()
			fmt.Fprintf(conn, "POST / %s\r\nHost: a.test\r\nContent-Length: %d\r\n%s\r\n0123456789", tc.proto, length, tc.fields)
			if tc.goes { // until the connection ends
				go func() {
					for _, err := conn.Write([]byte("0")); err == nil; _, err = conn.Write([]byte("0")) {
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := drain(t, resp); status != 413 || body != "no" {
				t.Errorf("client got %d %q", status, body)
			}
			if tc.reload {
				server.Reload(site(addr, "respond new"))
			}
			waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
			if tc.ends {
				if _, err := br.ReadByte(); err != io.EOF && (!tc.goes || !errors.Is(err, syscall.ECONNRESET)) {
					t.Errorf("the connection ends with %v", err)
				}
			}
			if took := time.Since(start); took > soon {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// net/http takes only this one spelling for the end of the connection, and
// reads 256 KiB of the body with any other.
func TestLargeUnreadBodyBehindConnectionClose(t *testing.T) {
	waitForTheRest(t)
	for _, spelling := range []string{"close", "Close"} {
		t.Run(spelling, func(t *testing.T) {
			shadow := newUpstream(t, nil)
			_, addr := run(t, func(addr string) string {
				return site(addr, "tee "+shadow.URL+" {\nname "+teeName(t)+"\ntimeout 20s\n}\nheader Connection "+spelling+"\nheader Content-Length 2\nrespond no 401")
			})
			sent := bytesOf(300 << 10)
			if status, body, closed := sendThenRead(t, addr, sent); status != 401 || body != "no" || !closed {
				t.Errorf("client got %d %q, connection closed %v", status, body, closed)
			}
			shadow.waitFor(sumOf(sent))
		})
	}
}

// sendThenRead is a client that sends all of its body before it looks at the
// response, of which Go's client is none.
func sendThenRead(t *testing.T, addr, body string) (status int, answer string, closed bool) {
	conn, br := dial(t, addr)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", addr, len(body), body)
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, answer = drain(t, resp)
	return status, answer, resp.Close
}

// A handler that puts another body in place changes what stands behind it.
func TestBodyIsTheOneSeenWhereTheTeeStands(t *testing.T) {
	primary, before, behind := newUpstream(t, nil), newUpstream(t, nil), newUpstream(t, nil)
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf(`route {
	tee %s {
		name before
		timeout 20s
	}
	request_body {
		set other
	}
	tee %s {
		name behind
		timeout 20s
	}
	respond /unread no
	reverse_proxy %s
}`, before.URL, behind.URL, primary.addr()))
	})
	for i, target := range []string{"/read", "/unread"} {
		sent := bytesOf(100)
		conn, br := dial(t, addr)
		// as much as the other body has at first
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\n%s", target, sent[:len("other")])
		if got := behind.wait(i + 1)[i]; got.body != "other" || got.length != 5 {
			t.Errorf("%s: behind, the shadow got %+v", target, got)
		}
		_, _ = io.WriteString(conn, sent[len("other"):])
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, resp)
		if got := before.wait(i + 1)[i]; got.sum != sumOf(sent) || got.length != 100 {
			t.Errorf("%s: before, the shadow got %+v", target, got)
		}
	}
	if got := primary.wait(1)[0].body; got != "other" {
		t.Errorf("primary got %q", got)
	}
}

// The body that a primary leaves keeps only the end of its stream back.
func TestResponseLeavesBeforeTheRestOfTheBody(t *testing.T) {
	waitForTheRest(t)
	shadow := newUpstream(t, nil)
	everyProtocol(t, "tee "+shadow.URL+" {\ntimeout 20s\n}\nheader Content-Length 2\nrespond no", func(t *testing.T, client *http.Client, url string) {
		if strings.HasSuffix(t.Name(), "HTTP1.1") {
			return // its server waits for the body itself
		}
		sent := bytesOf(100 << 10)
		body, pen := io.Pipe()
		resp, err := client.Post(url, "", body)
		if err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 2)
		if _, err := io.ReadFull(resp.Body, answer); err != nil || string(answer) != "no" {
			t.Errorf("client got %q, error %v", answer, err)
		}
		_, _ = io.WriteString(pen, sent)
		pen.Close()
		drain(t, resp)
		shadow.waitFor(sumOf(sent))
	})
}
