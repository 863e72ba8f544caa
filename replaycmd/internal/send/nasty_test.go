// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// nasty serves every connection with a function, on a bare listener.
func nasty(t *testing.T, serve func(conn *net.TCPConn, number int64)) Target {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	var number atomic.Int64
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn.(*net.TCPConn), number.Add(1))
			}()
		}
	}()
	target, err := ParseTarget(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// readRequest reads one request to its end.
func readRequest(r *bufio.Reader) bool {
	request, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

func reset(conn *net.TCPConn) {
	conn.SetLinger(0)
	conn.Close()
}

func TestFailuresAreToldApart(t *testing.T) {
	answering := func(answer string) func(*net.TCPConn, int64) {
		return func(conn *net.TCPConn, _ int64) {
			if readRequest(bufio.NewReader(conn)) {
				io.WriteString(conn, answer)
			}
		}
	}
	for _, tc := range []struct {
		name  string
		want  Kind
		serve func(*net.TCPConn, int64)
	}{
		{"ends before the answer", Closed, answering("")},
		{"resets before the answer", Reset, func(conn *net.TCPConn, _ int64) { readRequest(bufio.NewReader(conn)); reset(conn) }},
		{"ends at once", Closed, func(conn *net.TCPConn, _ int64) { conn.CloseWrite(); io.Copy(io.Discard, conn) }},
		{"ends in the status line", CutOff, answering("HTTP/1.1 20")},
		{"ends in the fields", CutOff, answering("HTTP/1.1 200 OK\r\nContent-Le")},
		{"ends in the body", CutOff, answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")},
		{"ends in a chunk", CutOff, answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n012")},
		{"ends between chunks", CutOff, answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n")},
		{"ends in the trailers", CutOff, answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n")},
		{"ends after an interim answer", CutOff, answering("HTTP/1.1 103 Early Hints\r\n\r\n")},
		{"resets in the body", CutOff, func(conn *net.TCPConn, _ int64) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
			time.Sleep(20 * time.Millisecond) // else the reset may overtake the bytes
			reset(conn)
		}},
		{"is no HTTP", Malformed, answering("SSH-2.0-OpenSSH_9.9\r\n\r\n")},
		{"is noise", Malformed, answering("\x00\x01\x02\x16\x03\r\n\r\n")},
		{"has no status", Malformed, answering("HTTP/1.1 \r\n\r\n")},
		{"has an impossible status", Malformed, answering("HTTP/1.1 099 Early\r\n\r\n")},
		{"has a bad length", Malformed, answering("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")},
		{"has a bad chunk", Malformed, answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")},
		{"has a huge chunk", Malformed, answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")},
		{"goes on with noise", Malformed, func(conn *net.TCPConn, _ int64) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, "\x15\x03\x01\x00\x02")
			io.Copy(io.Discard, conn)
		}},
		{"goes on after line feeds", Malformed, func(conn *net.TCPConn, _ int64) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\nContent-Length: x\n\n")
			io.Copy(io.Discard, conn)
		}},
		{"switches protocols", Malformed, answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")},
		{"has an endless head", Malformed, func(conn *net.TCPConn, _ int64) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for i := range 4 << 10 {
				if _, err := fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}},
		{"has an endless body", Timeout, func(conn *net.TCPConn, _ int64) {
			readRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := conn.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}},
		{"never comes", Timeout, func(conn *net.TCPConn, _ int64) { io.Copy(io.Discard, conn) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := Options{}
			if tc.want == Timeout {
				options.Timeout = 300 * time.Millisecond
			}
			client := newClient(t, nasty(t, tc.serve), options)
			for range 2 { // the second on a connection of its own
				_, err := client.Send(message(t, record("POST", "/", "body", "Host: a")), time.Now())
				if err == nil || KindOf(err) != tc.want {
					t.Fatalf("got error %v, want kind %v", err, tc.want)
				}
			}
		})
	}
}

func TestConnectionFailures(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := ln.Addr().String()
	ln.Close()
	plain := nasty(t, func(conn *net.TCPConn, _ int64) { io.WriteString(conn, "no TLS here\r\n") })
	for text, want := range map[string]Kind{
		free:                          Refused,
		"unix//nonexistent/socket":    Unreachable,
		"http://no-such-host.invalid": DNS,
		"https://" + plain.Address:    TLS,
	} {
		target, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, http2 := range []bool{false, true} {
			client := newClient(t, target, Options{HTTP2: http2})
			_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
			if err == nil || KindOf(err) != want {
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
		if err == nil || KindOf(err) != TLS {
			t.Errorf("%s: got error %v, want one of TLS", w.name, err)
		}
	}
}

func TestAnswersOfOddServers(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		opened int64 // connections for three requests
	}{
		"line feeds alone":           {"HTTP/1.1 200 OK\nX: y\nContent-Length: 2\n\nok", 1},
		"line feeds here and there":  {"HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\n\r\nok", 1},
		"line feeds, without fields": {"HTTP/1.1 204 No Content\n\n", 1},
		"no reason":                  {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 1},
		"HTTP/1.0":                   {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 3},
		"HTTP/1.0 that stays":        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 1},
		"asks to close":              {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 3},
		"bytes behind the answer":    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", 3},
		"many interim answers":       {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1},
		"chunks with extensions":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0;z\r\nX-A: b\r\n\r\n", 1},
		"a trailer that is none":     {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", 1},
		"a head beyond one buffer":   {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 200<<10) + "\r\nContent-Length: 2\r\n\r\nok", 1},
		"204 with a length":          {"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n", 1},
		"a body up to the end of it": {"HTTP/1.1 200 OK\r\n\r\nok", 3},
	} {
		t.Run(name, func(t *testing.T) {
			target := nasty(t, func(conn *net.TCPConn, _ int64) {
				r := bufio.NewReader(conn)
				for readRequest(r) {
					io.WriteString(conn, tc.answer)
					if name == "a body up to the end of it" {
						return
					}
				}
			})
			client := newClient(t, target, Options{})
			for range 3 {
				if answer := mustSend(t, client, record("GET", "/", "", "Host: a")); answer.Status/100 != 2 {
					t.Fatalf("got status %d", answer.Status)
				}
			}
			if opened := client.dialer.Opened(); opened != tc.opened {
				t.Errorf("%d connections were opened, want %d", opened, tc.opened)
			}
		})
	}
}

func TestAnswersToHEAD(t *testing.T) {
	for answer, opened := range map[string]int64{
		"HTTP/1.1 200 OK\r\nX: y\r\n\r\n":                         1,
		"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n":          1,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":   1,
		"HTTP/1.1 200 OK\r\nconnection: Close\r\n\r\n":            3,
		"HTTP/1.0 200 OK\r\nContent-Length: 500\r\n\r\n":          3,
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n": 1,
	} {
		target := nasty(t, func(conn *net.TCPConn, _ int64) {
			r := bufio.NewReader(conn)
			for readRequest(r) {
				io.WriteString(conn, answer)
			}
		})
		client := newClient(t, target, Options{})
		for range 3 {
			mustSend(t, client, record("HEAD", "/", "", "Host: a"))
		}
		if n := client.dialer.Opened(); n != opened {
			t.Errorf("%q: %d connections were opened, want %d", answer, n, opened)
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
			for n := 0; readRequest(r); n++ {
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
		if err == nil || KindOf(err) == Timeout || KindOf(err) == Interrupted {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
