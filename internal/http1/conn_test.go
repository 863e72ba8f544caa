// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// odd returns what dials a server that serves every connection with a function.
func odd(t testing.TB, serve func(conn *net.TCPConn)) *Dialer {
	t.Helper()
	return &Dialer{Network: "tcp", Address: peertest.Serve(t, serve)}
}

// closing responds to one request and ends the connection.
func closing(response string) func(*net.TCPConn) {
	return func(conn *net.TCPConn) {
		if peertest.ReadRequest(bufio.NewReader(conn)) {
			io.WriteString(conn, response)
		}
	}
}

func reset(conn *net.TCPConn) {
	conn.SetLinger(0)
	conn.Close()
}

func mustDial(t testing.TB, d *Dialer) *Conn {
	t.Helper()
	conn, err := d.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func soon() time.Time { return time.Now().Add(20 * time.Second) }

var (
	page    = &Request{Head: []byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")}
	headers = &Request{Head: []byte("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n")}
	form    = &Request{Head: []byte("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\n"), Body: []byte("body")}
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestResponsesOfOddServers(t *testing.T) {
	long := strings.Repeat("Set-Cookie: "+strings.Repeat("c", 2000)+"\r\n", 15)
	for name, tc := range map[string]struct {
		request  *Request
		response string
		want     Response // Sent and Received are not looked at
	}{
		"length":                     {page, ok, Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"chunks":                     {page, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"chunks with extensions":     {page, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\nA ; z\r\n0123456789\r\n0;z\r\nX-A: b\r\n\r\n", Response{Status: 200, Minor: 1, BodySize: 12, Whole: true, Reusable: true}},
		"chunks with line feeds":     {page, "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"trailers":                   {page, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"a trailer that is none":     {page, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true, Reusable: true}},
		"line feeds alone":           {page, "HTTP/1.1 200 OK\nX: y\nContent-Length: 2\n\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"line feeds here and there":  {page, "HTTP/1.1 200 OK\r\nX: y\nContent-Length: 2\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"line feeds, without fields": {page, "HTTP/1.1 204 No Content\n\n", Response{Status: 204, Minor: 1, Whole: true, Reusable: true}},
		"no reason":                  {page, "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"an odd status":              {page, "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok", Response{Status: 999, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"HTTP/1.0":                   {page, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, BodySize: 2, Whole: true}},
		"HTTP/1.0 that stays":        {page, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, BodySize: 2, Whole: true, Reusable: true}},
		"asks to close":              {page, "HTTP/1.1 200 OK\r\nconnection: x, Close\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true}},
		"two fields that ask":        {page, "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true}},
		"bytes behind the response":  {page, ok + " and more", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true}},
		"many interim responses":     {page, strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50) + "HTTP/1.1 103 H\r\nLink: a\r\n\r\n" + ok, Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"a long header":              {page, "HTTP/1.1 200 OK\r\n" + long + "Content-Length: 0\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true, Reusable: true}},
		"a header of 70,000 bytes":   {page, "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 70_000) + "\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"204 with a length":          {page, "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n", Response{Status: 204, Minor: 1, Whole: true, Reusable: true}},
		"304 with a length":          {page, "HTTP/1.1 304 No\r\nContent-Length: 100\r\n\r\n", Response{Status: 304, Minor: 1, Whole: true, Reusable: true}},
		"a length twice":             {page, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"a length twice in a field":  {page, "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"chunks and a length":        {page, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true}},
		"a folded field":             {page, "HTTP/1.1 200 OK\r\nX: y\r\n  z\r\nContent-Length: 2\r\n\r\nok", Response{Status: 200, Minor: 1, BodySize: 2, Whole: true, Reusable: true}},
		"switches protocols":         {page, "HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n", Response{Status: 101, Minor: 1, Whole: true}},
		"a redirect":                 {page, "HTTP/1.1 302 Go\r\nLOCATION: /b \r\nContent-Length: 0\r\n\r\n", Response{Status: 302, Minor: 1, Location: "/b", Whole: true, Reusable: true}},
		"HEAD":                       {headers, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true, Reusable: true}},
		"HEAD without a length":      {headers, "HTTP/1.1 200 OK\r\nX: y\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true, Reusable: true}},
		"HEAD in chunks":             {headers, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true, Reusable: true}},
		"HEAD that closes":           {headers, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", Response{Status: 200, Minor: 1, Whole: true}},
		"HEAD of HTTP/1.0":           {headers, "HTTP/1.0 200 OK\r\nContent-Length: 500\r\n\r\n", Response{Status: 200, Whole: true}},
		"a tunnel": {
			&Request{Head: []byte("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")},
			"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
			Response{Status: 200, Minor: 1, Whole: true},
		},
		"a body beyond the limit": {
			&Request{Head: page.Head, MaxBody: 1 << 20},
			fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 2<<20, strings.Repeat("x", 2<<20)),
			Response{Status: 200, Minor: 1, BodySize: 1 << 20},
		},
		"chunks beyond the limit": {
			&Request{Head: page.Head, MaxBody: 7},
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n4\r\n4567\r\n0\r\n\r\n",
			Response{Status: 200, Minor: 1, BodySize: 7},
		},
		"chunks up to the limit": {
			&Request{Head: page.Head, MaxBody: 8},
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n4\r\n4567\r\n0\r\n\r\n",
			Response{Status: 200, Minor: 1, BodySize: 8, Whole: true, Reusable: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn := mustDial(t, odd(t, peertest.Responding(tc.response)))
			for range 3 {
				got, err := conn.Exchange(tc.request, soon(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got.Sent != int64(tc.request.size()) || got.Received == 0 || got.Received > int64(len(tc.response)) {
					t.Errorf("%d bytes were sent, %d received", got.Sent, got.Received)
				}
				got.Sent, got.Received = 0, 0
				if got != tc.want {
					t.Fatalf("got %+v, want %+v", got, tc.want)
				}
				if !got.Reusable {
					break
				}
			}
		})
	}
}

// A body without a length ends with its connection.
func TestBodiesUpToTheEnd(t *testing.T) {
	for response, want := range map[string]Response{
		"HTTP/1.1 200 OK\r\n\r\n0123456789":                                {Status: 200, Minor: 1, BodySize: 10, Whole: true},
		"HTTP/1.1 200 OK\r\n\r\n":                                          {Status: 200, Minor: 1, Whole: true},
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzip":            {Status: 200, Minor: 1, BodySize: 3, Whole: true},
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 5*readBuffer+17):   {Status: 200, Minor: 1, BodySize: 5*readBuffer + 17, Whole: true},
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("y", 10*readBuffer):     {Status: 200, Minor: 1, BodySize: 10 * readBuffer, Whole: true},
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("z", 10*readBuffer+1):   {Status: 200, Minor: 1, BodySize: 10 * readBuffer},
		"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n" + "0123456789": {Status: 200, Minor: 1, BodySize: 10, Whole: true},
	} {
		conn := mustDial(t, odd(t, closing(response)))
		got, err := conn.Exchange(&Request{Head: page.Head, MaxBody: 10 * readBuffer}, soon(), nil)
		got.Sent, got.Received = 0, 0
		if err != nil || got != want {
			t.Errorf("%.60q: got %+v, error %v; want %+v", response, got, err, want)
		}
	}
}

func TestFailuresAreToldApart(t *testing.T) {
	for _, tc := range []struct {
		name  string
		want  Kind
		serve func(*net.TCPConn)
	}{
		{"ends before the response", Closed, closing("")},
		{"resets before the response", Reset, func(conn *net.TCPConn) { peertest.ReadRequest(bufio.NewReader(conn)); reset(conn) }},
		{"ends at once", Closed, func(conn *net.TCPConn) { conn.CloseWrite(); io.Copy(io.Discard, conn) }},
		{"ends in the status line", CutOff, closing("HTTP/1.1 20")},
		{"ends in the fields", CutOff, closing("HTTP/1.1 200 OK\r\nContent-Le")},
		{"ends in the body", CutOff, closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")},
		{"ends in a chunk", CutOff, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n012")},
		{"ends between chunks", CutOff, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n")},
		{"ends in the trailers", CutOff, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n")},
		{"ends after an interim response", CutOff, closing("HTTP/1.1 103 Early Hints\r\n\r\n")},
		{"resets in the body", CutOff, func(conn *net.TCPConn) {
			peertest.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
			time.Sleep(20 * time.Millisecond) // else the reset may overtake the bytes
			reset(conn)
		}},
		{"is no HTTP", Malformed, closing("SSH-2.0-OpenSSH_9.9\r\n\r\n")},
		{"is HTTP/2", Malformed, closing("HTTP/2.0 200 OK\r\n\r\n")},
		{"is noise", Malformed, closing("\x00\x01\x02\x16\x03\r\n\r\n")},
		{"has no status", Malformed, closing("HTTP/1.1 \r\n\r\n")},
		{"has a status of words", Malformed, closing("HTTP/1.1 OK\r\n\r\n")},
		{"has an impossible status", Malformed, closing("HTTP/1.1 099 Early\r\n\r\n")},
		{"has a long status", Malformed, closing("HTTP/1.1 2000 OK\r\n\r\n")},
		{"has a bad length", Malformed, closing("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")},
		{"has no length in its field", Malformed, closing("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n")},
		{"has two lengths", Malformed, closing("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok")},
		{"has a folded length", Malformed, closing("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n 3\r\n\r\nok")},
		{"has a field of words", Malformed, closing("HTTP/1.1 200 OK\r\nX y: z\r\nContent-Length: 0\r\n\r\n")},
		{"has a space before a colon", Malformed, closing("HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n")},
		{"has a bad chunk", Malformed, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")},
		{"has a chunk without a size", Malformed, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\n")},
		{"has a huge chunk", Malformed, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")},
		{"has a chunk that is longer", Malformed, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n")},
		{"has endless trailers", Malformed, closing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", 20_000))},
		{"has endless interim responses", Malformed, closing(strings.Repeat("HTTP/1.1 102 W\r\n\r\n", 200))},
		{"goes on with noise", Malformed, func(conn *net.TCPConn) {
			peertest.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "\x15\x03\x01\x00\x02")
			io.Copy(io.Discard, conn)
		}},
		{"goes on after line feeds", Malformed, func(conn *net.TCPConn) {
			peertest.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\nContent-Length: x\n\n")
			io.Copy(io.Discard, conn)
		}},
		{"has an endless head", Malformed, func(conn *net.TCPConn) {
			peertest.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for i := range 4 << 10 {
				if _, err := fmt.Fprintf(conn, "X-%d: %s\r\n", i, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}},
		{"has an endless body", Timeout, func(conn *net.TCPConn) {
			peertest.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			for {
				if _, err := conn.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}},
		{"never comes", Timeout, func(conn *net.TCPConn) { io.Copy(io.Discard, conn) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			deadline := soon()
			if tc.want == Timeout {
				deadline = time.Now().Add(300 * time.Millisecond)
			}
			resp, err := mustDial(t, odd(t, tc.serve)).Exchange(form, deadline, nil)
			if err == nil || KindOf(err) != tc.want || resp.Reusable {
				t.Fatalf("got error %v, want kind %v; reusable %v", err, tc.want, resp.Reusable)
			}
		})
	}
}

// What was asked for is kept as it came, also of a response that breaks off.
func TestCapture(t *testing.T) {
	const fields = "HTTP/1.1 200 Fine\r\nset-Cookie: a=b\nX:  y \r\nTransfer-Encoding: chunked\r\n\r\n"
	capture := &Capture{MaxBody: 6}
	for range 2 { // the second time over the first
		for name, tc := range map[string]struct {
			response             string
			kind                 Kind
			head, body, trailers string
			size                 int64
		}{
			"chunks and trailers": {"HTTP/1.1 103 H\r\nLink: a\r\n\r\n" + fields + "4\r\n0123\r\n4\r\n4567\r\n0\r\nX-Sum: 1\r\nContent-Length: 7\r\n\r\n", Kinds, fields, "012345", "X-Sum: 1\r\nContent-Length: 7\r\n", 8},
			"a length":            {"HTTP/1.0 404 No\r\nContent-Length: 4\r\n\r\n0123", Kinds, "HTTP/1.0 404 No\r\nContent-Length: 4\r\n\r\n", "0123", "", 4},
			"no length":           {"HTTP/1.0 200 OK\n\n0123456789", Kinds, "HTTP/1.0 200 OK\n\n", "012345", "", 10},
			"no body":             {"HTTP/1.1 204 No\r\n\r\n", Kinds, "HTTP/1.1 204 No\r\n\r\n", "", "", 0},
			"cut in the body":     {fields + "4\r\n0123\r\n4\r\n45", CutOff, fields, "012345", "", 6},
			"cut soon":            {fields + "4\r\n01", CutOff, fields, "01", "", 2},
			"cut in the head":     {"HTTP/1.1 200 OK\r\nX: ", CutOff, "", "", "", 0},
			"malformed":           {fields + "4\r\n0123\r\nx\r\n", Malformed, fields, "0123", "", 4},
		} {
			resp, err := mustDial(t, odd(t, closing(tc.response))).Exchange(page, soon(), capture)
			if (err != nil) != (tc.kind != Kinds) || err != nil && KindOf(err) != tc.kind {
				t.Errorf("%s: got error %v", name, err)
			}
			if string(capture.Head) != tc.head || string(capture.Body) != tc.body || string(capture.Trailers) != tc.trailers || resp.BodySize != tc.size {
				t.Errorf("%s: got %q, %q, %q of %d bytes", name, capture.Head, capture.Body, capture.Trailers, resp.BodySize)
			}
		}
	}
	large := strings.Repeat("0123456789", 100_000)
	capture.MaxBody = 1 << 30
	if _, err := mustDial(t, odd(t, closing("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"+large))).Exchange(page, soon(), capture); err != nil || string(capture.Body) != large {
		t.Errorf("%d bytes of a large body were kept, error %v", len(capture.Body), err)
	}
}

// The response to a request that nobody reads counts, and takes no time.
func TestEarlyResponseToALargeRequest(t *testing.T) {
	quit := make(chan struct{})
	defer close(quit)
	conn := mustDial(t, odd(t, func(conn *net.TCPConn) {
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
		<-quit
	}))
	large := &Request{Head: []byte("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 67108864\r\n\r\n"), Body: make([]byte, 64<<20)}
	resp, err := conn.Exchange(large, soon(), nil)
	if err != nil || resp.Status != 413 || resp.Reusable || resp.Sent >= 64<<20 {
		t.Errorf("got %+v, error %v", resp, err)
	}
}

func TestFailuresOfSending(t *testing.T) {
	large := &Request{Head: []byte("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 67108864\r\n\r\n"), Body: make([]byte, 64<<20)}
	quit := make(chan struct{})
	defer close(quit)
	for name, tc := range map[string]struct {
		serve func(*net.TCPConn)
		want  []Kind
	}{
		"reads not":    {func(*net.TCPConn) { <-quit }, []Kind{Timeout}},
		"stops to say": {func(conn *net.TCPConn) { conn.CloseWrite(); <-quit }, []Kind{Closed}},
		"resets":       {func(conn *net.TCPConn) { io.CopyN(io.Discard, conn, 1<<20); reset(conn) }, []Kind{Reset}},
		"closes":       {func(conn *net.TCPConn) { io.CopyN(io.Discard, conn, 1<<20) }, []Kind{Reset, Closed}},
	} {
		deadline := soon()
		if tc.want[0] == Timeout {
			deadline = time.Now().Add(200 * time.Millisecond)
		}
		_, err := mustDial(t, odd(t, tc.serve)).Exchange(large, deadline, nil)
		failure, _ := err.(*Error)
		if failure == nil || !failure.Sending || failure.Kind != tc.want[0] && failure.Kind != tc.want[len(tc.want)-1] {
			t.Errorf("%s: got error %v, want %v", name, err, tc.want)
		}
	}
}

func TestDialFailures(t *testing.T) {
	free := peertest.Addr(t)
	plain := odd(t, func(conn *net.TCPConn) { io.WriteString(conn, "no TLS here\r\n") })
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	untrusted.Config.ErrorLog = nil
	for _, tc := range []struct {
		dialer Dialer
		want   Kind
	}{
		{Dialer{Network: "tcp", Address: free}, Refused},
		{Dialer{Network: "unix", Address: "/nonexistent/socket"}, Unreachable},
		{Dialer{Network: "tcp", Address: "no-such-host.invalid:80"}, DNS},
		{Dialer{Network: "tcp", Address: plain.Address, TLS: &tls.Config{ServerName: "a.test"}}, TLS},
		{Dialer{Network: "tcp", Address: untrusted.Listener.Addr().String(), TLS: &tls.Config{ServerName: "example.com"}}, TLS},
	} {
		if _, err := tc.dialer.Dial(t.Context()); err == nil || KindOf(err) != tc.want {
			t.Errorf("%s: got error %v, want kind %v", tc.dialer.Address, err, tc.want)
		}
	}
}

// A server of TLS 1.3 refuses a client without a certificate when the handshake
// is over on the client's side.
func TestAMissingClientCertificate(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
		server.Config.ErrorLog = quiet
		server.StartTLS()
		dialer := &Dialer{Network: "tcp", Address: server.Listener.Addr().String(), TLS: &tls.Config{InsecureSkipVerify: true}}
		for range 20 {
			conn, err := dialer.Dial(t.Context())
			if err == nil {
				_, err = conn.Exchange(form, soon(), nil)
				conn.Close()
			}
			if err == nil || KindOf(err) != TLS {
				t.Errorf("%s: got error %v", tls.VersionName(version), err)
			}
		}
		server.Close()
	}
}

// The end of an idle connection, and bytes that nobody asked for, are seen
// before the next request goes.
func TestStaleConnections(t *testing.T) {
	for name, then := range map[string]func(*net.TCPConn){
		"closes": func(*net.TCPConn) {},
		"resets": reset,
		"speaks": func(conn *net.TCPConn) { io.WriteString(conn, "HTTP/1.1 408 Late\r\n\r\n"); time.Sleep(time.Minute) },
	} {
		responded, go_ := make(chan struct{}), make(chan struct{})
		conn := mustDial(t, odd(t, func(c *net.TCPConn) {
			closing(ok)(c)
			close(responded)
			<-go_
			then(c)
		}))
		if _, err := conn.Exchange(page, soon(), nil); err != nil {
			t.Fatal(err)
		}
		<-responded
		if conn.Stale() {
			t.Errorf("%s: stale while nothing has happened", name)
		}
		close(go_)
		for deadline := soon(); !conn.Stale(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: not noticed", name)
			}
		}
	}
}

func TestAbortEndsAnExchange(t *testing.T) {
	arrived := make(chan struct{})
	conn := mustDial(t, odd(t, func(c *net.TCPConn) {
		peertest.ReadRequest(bufio.NewReader(c))
		close(arrived)
		io.Copy(io.Discard, c)
	}))
	go func() {
		<-arrived
		conn.Abort()
	}()
	if _, err := conn.Exchange(page, soon(), nil); err == nil || KindOf(err) != Interrupted {
		t.Errorf("got error %v", err)
	}
}

func BenchmarkExchange(b *testing.B) {
	response := []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Mon, 30 Nov 2026 17:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
	conn := mustDial(b, odd(b, func(conn *net.TCPConn) {
		buf := make([]byte, 4096)
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
			conn.Write(response)
		}
	}))
	for name, capture := range map[string]*Capture{"dropped": nil, "captured": {MaxBody: 1 << 20}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Exchange(page, soon(), capture); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStale(b *testing.B) {
	conn := mustDial(b, odd(b, func(conn *net.TCPConn) { bytes.NewBuffer(nil).ReadFrom(conn) }))
	for b.Loop() {
		if conn.Stale() {
			b.Fatal("stale")
		}
	}
}

// TestMoreBehindALargeHead ends a head just where the largest buffer does. What the
// server sends behind it must not get lost between two exchanges.
func TestMoreBehindALargeHead(t *testing.T) {
	for _, behind := range []string{"", "HTTP/1.1 200 OK\r\n"} {
		client, server := net.Pipe()
		const begin, end = "HTTP/1.1 204 No Content\r\nX-Long: ", "\r\n\r\n"
		response := begin + strings.Repeat("x", maxHead-len(begin)-len(end)) + end
		go func() {
			defer server.Close()
			if peertest.ReadRequest(bufio.NewReader(server)) {
				last := len(response) - 1000
				io.WriteString(server, response[:last])
				io.WriteString(server, response[last:]+behind)
			}
		}()
		conn := NewConn(client, client)
		resp, err := conn.Exchange(&Request{Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")}, time.Now().Add(time.Minute), nil)
		if err != nil || resp.Status != http.StatusNoContent {
			t.Errorf("status %d, error %v", resp.Status, err)
		}
		if resp.Reusable != (behind == "") {
			t.Errorf("reusable: %v, with %q behind the response", resp.Reusable, behind)
		}
		conn.Close()
	}
}
