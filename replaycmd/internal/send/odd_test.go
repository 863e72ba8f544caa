// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// nasty returns a target that serves every connection with a function, to which it
// gives the connection's number.
func nasty(t *testing.T, serve func(conn *net.TCPConn, number int64)) Target {
	t.Helper()
	var number atomic.Int64
	target, err := ParseTarget(peertest.Serve(t, func(conn *net.TCPConn) { serve(conn, number.Add(1)) }))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestConnectionFailures(t *testing.T) {
	free := peertest.Addr(t)
	plain := nasty(t, func(conn *net.TCPConn, _ int64) { io.WriteString(conn, "no TLS here\r\n") })
	for text, want := range map[string]http1.Kind{
		free:                          http1.Refused,
		"unix//nonexistent/socket":    http1.Unreachable,
		"http://no-such-host.invalid": http1.DNS,
		"https://" + plain.Address:    http1.TLS,
	} {
		target, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, http2 := range []bool{false, true} {
			client := newClient(t, target, Options{HTTP2: http2})
			_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
			if err == nil || http1.KindOf(err) != want {
				t.Errorf("%s, HTTP/2 %v: got error %v, want kind %v", text, http2, err, want)
			}
		}
	}
}

func TestACertificateMustBeTrusted(t *testing.T) {
	for _, w := range ways {
		if !w.options.Insecure {
			continue
		}
		options := w.options
		options.Insecure = false
		client := newClient(t, w.serve(t, http.NotFoundHandler()), options)
		_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
		if err == nil || http1.KindOf(err) != http1.TLS {
			t.Errorf("%s: got error %v, want one of TLS", w.name, err)
		}
	}
}

// What servers do on a connection is tested in internal/http1; what clients make
// of it is tested here.
func TestResponsesOfOddServers(t *testing.T) {
	for name, tc := range map[string]struct {
		response string
		kind     http1.Kind // Kinds: none
		opened   int64      // connections for three requests
	}{
		"line feeds alone":        {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", http1.Kinds, 1},
		"a length twice":          {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", http1.Kinds, 1},
		"a large header":          {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 200<<10) + "\r\nContent-Length: 2\r\n\r\nok", http1.Kinds, 1},
		"a trailer that is none":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", http1.Kinds, 1},
		"asks to close":           {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", http1.Kinds, 3},
		"bytes behind a response": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", http1.Kinds, 3},
		"switches protocols":      {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", http1.Malformed, 3},
		"two lengths":             {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", http1.Malformed, 3},
	} {
		target := nasty(t, func(conn *net.TCPConn, _ int64) { peertest.Responding(tc.response)(conn) })
		client := newClient(t, target, Options{})
		for range 3 {
			resp, err := client.Send(message(t, record("POST", "/", "", "Host: a")), time.Now())
			if (err != nil) != (tc.kind != http1.Kinds) || err != nil && http1.KindOf(err) != tc.kind || err == nil && resp.Status != 200 {
				t.Errorf("%s: got status %d, error %v", name, resp.Status, err)
			}
		}
		if opened := client.dialer.Opened(); opened != tc.opened {
			t.Errorf("%s: %d connections were opened, want %d", name, opened, tc.opened)
		}
	}
}

// A server that takes a request on a connection in use and then drops it leaves
// open whether it has acted on it.
func TestOnlyIdempotentRequestsAreSentTwice(t *testing.T) {
	for method, wantSent := range map[string]int64{"GET": 3, "PUT": 3, "DELETE": 3, "POST": 2, "PATCH": 2, "BAN": 2} {
		var requests atomic.Int64
		target := nasty(t, func(conn *net.TCPConn, number int64) {
			r := bufio.NewReader(conn)
			for n := 0; peertest.ReadRequest(r); n++ {
				requests.Add(1)
				if number == 1 && n == 1 {
					return
				}
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		client := newClient(t, target, Options{})
		mustSend(t, client, record(method, "/1", "", "Host: a"))
		_, err := client.Send(message(t, record(method, "/2", "", "Host: a")), time.Now())
		if wantsError := wantSent == 2; (err != nil) != wantsError {
			t.Errorf("%s: got error %v", method, err)
		}
		if n := requests.Load(); n != wantSent {
			t.Errorf("%s: the server got %d requests, want %d", method, n, wantSent)
		}
	}
}

// A server that ends a connection right behind a response, without having said so,
// loses no request: what may not be sent twice is sent over another one, however
// short the connection was idle.
func TestAConnectionThatHasJustEndedIsReplaced(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		var requests atomic.Int64
		target := nasty(t, func(conn *net.TCPConn, _ int64) {
			if peertest.ReadRequest(bufio.NewReader(conn)) {
				requests.Add(1)
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		client := newClient(t, target, Options{})
		for range 5 {
			now := time.Now()
			if client.conn != nil {
				now = client.used.Add(settled / 2)
				for deadline := time.Now().Add(30 * time.Second); !client.conn.stale(); time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("the end of the connection does not arrive")
					}
				}
			}
			resp, err := client.Send(message(t, record(method, "/", "x", "Host: a")), now)
			if err != nil || resp.Status != 200 {
				t.Errorf("%s: got status %d, error %v", method, resp.Status, err)
			}
		}
		if n := requests.Load(); n != 5 {
			t.Errorf("%s: the server got %d requests, want 5", method, n)
		}
	}
}

func TestAnEarlyAnswerToABodyThatNobodyReads(t *testing.T) {
	target := nasty(t, func(conn *net.TCPConn, number int64) {
		r := bufio.NewReader(conn)
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		<-t.Context().Done()
	})
	client := newClient(t, target, Options{})
	for range 2 {
		answer := mustSend(t, client, record("POST", "/", strings.Repeat("x", 64<<20), "Host: a"))
		if answer.Status != 413 {
			t.Errorf("got status %d", answer.Status)
		}
	}
	if opened := client.dialer.Opened(); opened != 2 {
		t.Errorf("%d connections were opened, want one for each request", opened)
	}
}

func TestGarbageInHTTP2(t *testing.T) {
	for name, answer := range map[string]string{
		"HTTP/1.1": "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
		"nothing":  "",
		"noise":    strings.Repeat("\xff\x00noise", 100),
	} {
		target := nasty(t, func(conn *net.TCPConn, _ int64) {
			io.ReadFull(conn, make([]byte, 24))
			io.WriteString(conn, answer)
		})
		client := newClient(t, target, Options{HTTP2: true})
		_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
		if err == nil || http1.KindOf(err) == http1.Timeout || http1.KindOf(err) == http1.Interrupted {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
