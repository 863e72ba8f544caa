// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers every request on every connection with the same bytes, and
// counts the connections.
func serve(t *testing.T, answer string) (addr string, conns *atomic.Int64) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String(), serveListener(t, ln, answer)
}

func serveListener(t *testing.T, ln net.Listener, answer string) (conns *atomic.Int64) {
	t.Cleanup(func() { ln.Close() })
	conns = new(atomic.Int64)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer conn.Close()
				br := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(conn, answer)
				}
			}()
		}
	}()
	return conns
}

func newClient(t *testing.T, addr string) *Client {
	c := &Client{Network: "tcp", Address: addr, MaxIdle: 10, MaxResponse: 1 << 20}
	t.Cleanup(c.Close)
	return c
}

func soon() time.Time { return time.Now().Add(20 * time.Second) }

var page = Request{Head: []byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")}

func TestResponsesAndWhetherTheirConnectionsStay(t *testing.T) {
	long := strings.Repeat("Set-Cookie: "+strings.Repeat("c", 2000)+"\r\n", 15)
	for name, tc := range map[string]struct {
		answer string
		status int
		conns  int64
	}{
		"length":         {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, 1},
		"chunked":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, 1},
		"trailers":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", 200, 1},
		"no content":     {"HTTP/1.1 204 No\r\n\r\n", 204, 1},
		"not modified":   {"HTTP/1.1 304 No\r\nContent-Length: 100\r\n\r\n", 304, 1},
		"interim":        {"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 H\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 1},
		"long header":    {"HTTP/1.1 200 OK\r\n" + long + "Content-Length: 0\r\n\r\n", 200, 1},
		"close":          {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, 3},
		"old":            {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, 3},
		"more than said": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more", 200, 3},
		"too long":       {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2<<20, strings.Repeat("x", 2<<20)), 200, 3},
		"switching":      {"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n", 101, 3},
	} {
		t.Run(name, func(t *testing.T) {
			addr, conns := serve(t, tc.answer)
			c := newClient(t, addr)
			for range 3 {
				if status, err := c.Exchange(page, soon()); err != nil || status != tc.status {
					t.Fatalf("got %d, error %v; want %d", status, err, tc.status)
				}
			}
			if n := conns.Load(); n != tc.conns {
				t.Errorf("three exchanges took %d connections, want %d", n, tc.conns)
			}
		})
	}
}

func TestHeadHasNoBody(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
	c := newClient(t, addr)
	for range 3 {
		head := Request{Head: []byte("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n"), BodilessResponse: true}
		if status, err := c.Exchange(head, soon()); err != nil || status != 200 {
			t.Fatalf("got %d, error %v", status, err)
		}
	}
	if conns.Load() != 1 {
		t.Errorf("three exchanges took %d connections", conns.Load())
	}
}

func TestErrorsTellTheStage(t *testing.T) {
	for answer, want := range map[string]Stage{
		"SSH-2.0\r\n\r\n":                             Malformed,
		"HTTP/1.1 OK\r\n\r\n":                         Malformed,
		strings.Repeat("HTTP/1.1 102 W\r\n\r\n", 200): Malformed,
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n": Malformed,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n": Malformed,
	} {
		addr, _ := serve(t, answer)
		_, err := newClient(t, addr).Exchange(page, soon())
		if failed, ok := errors.AsType[*Error](err); !ok || failed.Stage != want || failed.Timeout() {
			t.Errorf("%.40q: got error %v, want %s", answer, err, want)
		}
	}
}

func TestDeadlineEndsEveryStage(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() }) // it accepts nothing
	for name, req := range map[string]Request{
		"receiving": page,
		"sending":   {Head: []byte("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 99999999\r\n\r\n"), Body: make([]byte, 99999999)},
	} {
		_, err := newClient(t, ln.Addr().String()).Exchange(req, time.Now().Add(100*time.Millisecond))
		if failed, ok := errors.AsType[*Error](err); !ok || !failed.Timeout() {
			t.Errorf("%s: got error %v, want a timeout", name, err)
		}
	}
}

// An answer counts also if the server never reads the whole request.
func TestEarlyAnswerIsRead(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			_, _ = io.WriteString(conn, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n")
		}
	}()
	large := Request{Head: []byte("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 99999999\r\n\r\n"), Body: make([]byte, 99999999)}
	var status int
	for range 20 { // a busy machine may not see it in time
		if status, err = newClient(t, ln.Addr().String()).Exchange(large, time.Now().Add(100*time.Millisecond)); err == nil {
			break
		}
	}
	if err != nil || status != 413 {
		t.Errorf("got %d, error %v", status, err)
	}
}

func TestRefusalStandsForAMoment(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	c := newClient(t, ln.Addr().String())
	_, first := c.Exchange(page, soon())
	c.refusal.Load().until = soon()
	if _, second := c.Exchange(page, soon()); first == nil || second != first {
		t.Errorf("got errors %v and %v, want the same", first, second)
	}
	addr, _ := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c.Address = addr
	c.refusal.Load().until = time.Now()
	if status, err := c.Exchange(page, soon()); err != nil || status != 204 || c.refusal.Load() != nil {
		t.Errorf("got %d, error %v after the pause", status, err)
	}
}

// The deadline of an exchange is no end of its connection.
func TestIdleConnectionsOutliveTheirDeadline(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newClient(t, addr)
	for range 3 {
		if _, err := c.Exchange(page, soon()); err != nil {
			t.Fatal(err)
		}
		past := time.Now().Add(-2 * trustedIdle)
		c.idle[0].idleSince = past
		_ = c.idle[0].SetDeadline(past)
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestClosedClientKeepsNothing(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newClient(t, addr)
	for range 2 {
		if _, err := c.Exchange(page, soon()); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	for range 2 {
		if _, err := c.Exchange(page, soon()); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n != 3 || len(c.idle) != 0 || c.reaper != nil {
		t.Errorf("%d connections, %d idle; want 3 and none", n, len(c.idle))
	}
}

func TestIdleConnectionsAreReaped(t *testing.T) {
	addr, _ := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newClient(t, addr)
	if _, err := c.Exchange(page, soon()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.idle[0].idleSince = time.Now().Add(-2 * idleTimeout)
	c.mu.Unlock()
	c.reap()
	if len(c.idle) != 0 || c.reaper != nil {
		t.Errorf("%d connections idle still", len(c.idle))
	}
}

func TestOldConnectionsAreReplaced(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newClient(t, addr)
	for range 3 {
		if _, err := c.Exchange(page, soon()); err != nil {
			t.Fatal(err)
		}
		for _, conn := range c.idle {
			conn.created = conn.created.Add(-2 * maxAge)
		}
	}
	if n := conns.Load(); n != 3 {
		t.Errorf("%d connections, want 3", n)
	}
}

func BenchmarkExchange(b *testing.B) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		buf := make([]byte, 4096)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	}()
	c := &Client{Network: "tcp", Address: ln.Addr().String(), MaxIdle: 1, MaxResponse: 1 << 20}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Exchange(page, soon()); err != nil {
			b.Fatal(err)
		}
	}
}
