// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// faulty are the lines of a simulator with a route for each fault.
func faulty() string {
	lines := []string{"simulator {"}
	for _, fault := range []string{"reset", "empty", "malformed", "garbage", "hang"} {
		lines = append(lines, "route /"+fault+" {\n body hello\n header X-A 1\n stage 0 201 1ms {\n fault "+fault+"\n }\n }")
	}
	return strings.Join(append(lines, "body fine\n stage 0 200", "}"), "\n")
}

// TestFaultsOnTheWire holds what a socket sees of each, with and without TLS,
// and that the next connection is fine.
func TestFaultsOnTheWire(t *testing.T) {
	addr, secure := caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, "{\n skip_install_trust\n}\n"+site(addr, faulty())+"https://"+secure+" {\n tls internal\n"+withExpress(faulty())+"\n}")
	caddytest.AwaitTLS(t, secure)
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	for name, dial := range map[string]func() (net.Conn, error){
		"HTTP":  func() (net.Conn, error) { return net.Dial("tcp", addr) },
		"HTTPS": func() (net.Conn, error) { return tls.Dial("tcp", secure, insecure) },
	} {
		request := func(path string) ([]byte, error) {
			conn, err := dial()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\nsent", path)
			if path == "/hang" {
				_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond))
			}
			if path == "/" {
				got := make([]byte, 15)
				_, err := io.ReadFull(conn, got)
				return got, err
			}
			return io.ReadAll(conn)
		}
		for path, check := range map[string]func(got []byte, err error) bool{
			"/reset": func(got []byte, err error) bool { return len(got) == 0 && errors.Is(err, syscall.ECONNRESET) },
			"/empty": func(got []byte, err error) bool { return len(got) == 0 && err == nil },
			"/garbage": func(got []byte, err error) bool {
				return len(got) == garbageSize && err == nil && !bytes.HasPrefix(got, []byte("HTTP"))
			},
			"/malformed": func(got []byte, err error) bool {
				header, garbage, _ := bytes.Cut(got, []byte("\r\n\r\n"))
				return err == nil && bytes.HasPrefix(header, []byte("HTTP/1.1 201 Created\r\n")) && bytes.Contains(header, []byte("X-A: 1")) &&
					bytes.Contains(header, []byte("Transfer-Encoding: chunked")) && !bytes.Contains(header, []byte("Content-Length")) &&
					len(garbage) == garbageSize
			},
			"/hang": func(got []byte, err error) bool {
				timeout, ok := errors.AsType[net.Error](err)
				return len(got) == 0 && ok && timeout.Timeout()
			},
		} {
			if got, err := request(path); !check(got, err) {
				t.Errorf("%s%s: got %d bytes %.200q, error %v", name, path, len(got), got, err)
			}
			if got, err := request("/"); string(got) != "HTTP/1.1 200 OK" {
				t.Errorf("%s after %s: got %q, %v", name, path, got, err)
			}
		}
	}
}

// TestFaultsOfStreams holds that HTTP/2 and 3 break off the stream and keep the
// connection.
func TestFaultsOfStreams(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, "{\n skip_install_trust\n}\nhttps://"+addr+" {\n tls internal\n"+faulty()+"\n}")
	caddytest.AwaitTLS(t, addr)
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the test's own server
	h3 := &http3.Transport{TLSClientConfig: insecure.Clone()}
	defer h3.Close()
	h2 := &http.Transport{TLSClientConfig: insecure.Clone(), ForceAttemptHTTP2: true}
	defer h2.CloseIdleConnections()
	for major, transport := range map[int]http.RoundTripper{2: h2, 3: h3} {
		ask := func(path string, limit time.Duration) (status int, body string, err error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+addr+path, strings.NewReader("sent"))
			resp, err := transport.RoundTrip(req)
			if err != nil {
				return 0, "", err
			}
			defer resp.Body.Close()
			read, err := io.ReadAll(resp.Body)
			if resp.ProtoMajor != major {
				t.Errorf("got %s", resp.Proto)
			}
			return resp.StatusCode, string(read), err
		}
		for _, fault := range []string{"reset", "empty", "garbage", "malformed", "hang"} {
			limit := time.Minute
			if fault == "hang" {
				limit = 300 * time.Millisecond
			}
			status, body, err := ask("/"+fault, limit)
			// over HTTP/3 the error may overtake what was sent before it
			overtaken := major == 3 && body == ""
			headed := fault == "malformed" && !overtaken
			if err == nil || headed && (status != 201 || body == "") || !headed && body != "" || (fault == "hang") != errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("HTTP/%d %s: got %d, %d bytes, error %v", major, fault, status, len(body), err)
			}
			if status, body, err := ask("/", time.Minute); status != 200 || body != "fine" || err != nil {
				t.Errorf("HTTP/%d after %s: got %d %q, %v", major, fault, status, body, err)
			}
		}
	}
}

// TestNoFaultAtNothingPercent holds that no connection is lost.
func TestNoFaultAtNothingPercent(t *testing.T) {
	_, url := serve(t, "simulator {\n stage 0 200 {\n fault reset 0\n }\n}")
	conn := dial(t, url)
	in := bufio.NewReader(conn)
	for i := range 1000 {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if status, _ := read(t, resp); status != 200 {
			t.Fatalf("request %d: got %d", i, status)
		}
	}
}

// TestHangsEndWithTheirClients counts goroutines.
func TestHangsEndWithTheirClients(t *testing.T) {
	_, url := serve(t, faulty())
	wantStatus(t, url, 200)
	before := runtime.NumGoroutine()
	conns := make([]net.Conn, 100)
	for i := range conns {
		conns[i] = dial(t, url)
		fmt.Fprint(conns[i], "GET /hang HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	}
	eventually(t, func() bool { counts, _ := all()[0].Counted(); return counts[0] == 100 })
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, func() bool { return runtime.NumGoroutine() < before+20 })
}
