// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestAnyMethodIsAnswered holds that a method changes nothing, HEAD apart.
func TestAnyMethodIsAnswered(t *testing.T) {
	_, url := serve(t, "simulator {\n body hello\n stage 0 200\n}")
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "BAN"} {
		resp := do(t, http.DefaultClient, method, url+"/any?x=1;y", strings.NewReader("sent"))
		if status, body := read(t, resp); status != 200 || body != "hello" {
			t.Errorf("%s: got %d %q", method, status, body)
		}
	}
	resp := do(t, http.DefaultClient, "HEAD", url, nil)
	if status, body := read(t, resp); status != 200 || body != "" || resp.ContentLength != 5 {
		t.Errorf("HEAD: got %d %q of length %d", status, body, resp.ContentLength)
	}
}

// TestFramingOnOneConnection reads every kind of answer from one connection, so
// that a byte too many or too few spoils the next.
func TestFramingOnOneConnection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, "simulator {",
		"route /200 {\n body hello\n header Connection keepalive\n header X-Twice 1\n header X-Twice 2\n stage 0 200\n }",
		"route /204 {\n body hello\n stage 0 204\n }",
		"route /205 {\n body hello\n stage 0 205\n }",
		"route /304 {\n body hello\n stage 0 304\n }",
		"route /404 {\n body hello\n stage 0 404\n }",
		"route /999 {\n body hello\n stage 0 999\n }",
		"route /empty {\n header Content-Encoding gzip\n stage 0 200\n }",
		"route /gzip {\n body hello\n header Content-Encoding gzip\n stage 0 200\n }",
		"route /random {\n random_content 428kb\n stage 0 200\n }",
		"route /range {\n random_content 1b..300kb\n stage 0 200\n }",
		"route /file {\n body_file "+file+"\n stage 0 200\n }",
		"}")
	conn := dial(t, url)
	in := bufio.NewReader(conn)
	for _, tc := range []struct {
		path   string
		status int
		length int64 // -1: no Content-Length; -2: any
	}{
		{"/200", 200, 5},
		{"/204", 204, -1},
		{"/205", 205, 0},
		{"/304", 304, -1},
		{"/404", 404, 9},
		{"/999", 999, 9},
		{"/empty", 200, 0},
		{"/gzip", 200, -2},
		{"/random", 200, 428 << 10},
		{"/range", 200, -2},
		{"/file", 200, 5 << 20},
		{"/none", 406, -2},
	} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: id=1; id=2; =x; bad\r\nContent-Length: 0\r\n\r\n", method, tc.path)
			resp, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%s %s: %v", method, tc.path, err)
			}
			status, body := read(t, resp)
			length := resp.Header.Get("Content-Length")
			if status != tc.status || tc.length == -1 && length != "" || tc.length >= 0 && length != fmt.Sprint(tc.length) {
				t.Errorf("%s %s: got %d, length %q", method, tc.path, status, length)
			}
			if method != "HEAD" && length != "" && length != fmt.Sprint(len(body)) {
				t.Errorf("%s %s: %d bytes, said to be %s", method, tc.path, len(body), length)
			}
			if encoded := resp.Header.Get("Content-Encoding") == "gzip"; encoded != (tc.path == "/gzip") {
				t.Errorf("%s %s: gzipped is %v", method, tc.path, encoded)
			}
			if tc.path == "/200" && (resp.Header.Get("Connection") != "keepalive" || len(resp.Header.Values("X-Twice")) != 2) {
				t.Errorf("%s %s: got header %v", method, tc.path, resp.Header)
			}
		}
	}
}

// TestNewerProtocols holds that fields about one connection stay out of HTTP/2
// and 3, which forbid them.
func TestNewerProtocols(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, "{\n skip_install_trust\n}\nhttps://"+addr+" {\n tls internal\n simulator {\n header Connection keepalive\n header X-A 1\n random_content 300kb\n stage 0 200\n }\n}")
	caddytest.AwaitTLS(t, addr)
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	h3 := &http3.Transport{TLSClientConfig: insecure.Clone()}
	defer h3.Close()
	for proto, transport := range map[string]http.RoundTripper{
		"HTTP/2.0": &http.Transport{TLSClientConfig: insecure.Clone(), ForceAttemptHTTP2: true},
		"HTTP/3.0": h3,
	} {
		client := &http.Client{Transport: transport}
		for range 3 {
			resp := do(t, client, "POST", "https://"+addr, strings.NewReader("sent"))
			status, body := read(t, resp)
			if status != 200 || len(body) != 300<<10 || resp.Proto != proto {
				t.Errorf("%s: got %d, %d bytes over %s", proto, status, len(body), resp.Proto)
			}
			if resp.Header.Get("Connection") != "" || resp.Header.Get("X-A") != "1" {
				t.Errorf("%s: got header %v", proto, resp.Header)
			}
		}
		client.CloseIdleConnections()
	}
}

// TestEncodeInFrontLeavesGzipAlone holds that nothing is gzipped twice.
func TestEncodeInFrontLeavesGzipAlone(t *testing.T) {
	_, url := serve(t, "encode", "simulator {\n random_content 10kb\n header Content-Encoding gzip\n header Content-Type text/html\n stage 0 200\n}")
	for _, method := range []string{"GET", "POST", "PUT"} {
		for _, accept := range []string{"gzip", "identity"} {
			req, _ := http.NewRequest(method, url, nil)
			req.Header.Set("Accept-Encoding", accept)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, body := read(t, resp)
			zip, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			if plain, err := io.ReadAll(zip); err != nil || len(plain) != 10<<10 {
				t.Errorf("%s, accepting %s: got %d bytes, %v", method, accept, len(plain), err)
			}
		}
	}
}

// TestOtherHandlersMayChangeTheHeader holds that what they change in place is
// the request's own.
func TestOtherHandlersMayChangeTheHeader(t *testing.T) {
	_, url := serve(t, "@change path /change", "header @change >X-A one two", "simulator {\n header X-A one\n stage 0 200\n}")
	for path, want := range map[string]string{"/": "one", "/change": "two"} {
		for range 3 {
			if got := do(t, http.DefaultClient, "GET", url+path, nil).Header.Get("X-A"); got != want {
				t.Errorf("%s: got %q", path, got)
			}
		}
	}
}

// TestBodyIsReadBeforeTheAnswer holds that a client which is still sending is
// not cut off, and that the connection serves on.
func TestBodyIsReadBeforeTheAnswer(t *testing.T) {
	_, url := serve(t, "simulator {\n stage 0 500\n}")
	conn := dial(t, url)
	in := bufio.NewReader(conn)
	const size = 20 << 20
	for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n%sContent-Length: %d\r\n\r\n", expect, size)
		if expect != "" {
			if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != 100 {
				t.Fatalf("got %v, %v", resp, err)
			}
		}
		if _, err := io.CopyN(conn, zeros{}, size); err != nil {
			t.Fatalf("sending: %v", err)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := read(t, resp); status != 500 || body != "Error 500" {
			t.Errorf("got %d %q", status, body)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestOriginIsServedAndNeverValidated runs a configured origin to its end.
func TestOriginIsServedAndNeverValidated(t *testing.T) {
	asked := make(chan string, 10)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("X-Key")
		w.Header().Set("Content-Type", "text/x-origin")
		fmt.Fprint(w, "from the origin")
	}))
	defer origin.Close()
	addr := caddytest.Addr(t)
	config := site(addr, "simulator {\n origin "+origin.URL+"\n header X-Key 7\n stage 0 200\n}")
	if err := caddytest.Validate(config); err != nil {
		t.Fatal(err)
	}
	s := caddytest.Run(t, config)
	eventually(t, func() bool { _, body := get(t, "http://"+addr); return body == "from the origin" })
	s.Reload(config)
	resp := do(t, http.DefaultClient, "GET", "http://"+addr, nil)
	if _, body := read(t, resp); body != "from the origin" || resp.Header.Get("Content-Type") != "text/x-origin" || resp.Header.Get("X-Key") != "7" {
		t.Errorf("got %q, %v", body, resp.Header)
	}
	if n := len(asked); n != 1 || <-asked != "7" {
		t.Errorf("the origin was asked %d times", n)
	}
}

func do(t testing.TB, client *http.Client, method, url string, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// dial opens a connection to the server of a URL.
func dial(t testing.TB, url string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}
