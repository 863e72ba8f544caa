// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// patience is how long anything may take before a test gives up.
const patience = time.Minute

// sites is one Caddy with the test handler on three addresses.
type sites struct {
	*caddytest.Server
	caddy, express, tls string // addresses
	cert                string // file of certificate and key
}

func runSites(t testing.TB, options string) *sites {
	t.Helper()
	s := &sites{caddy: caddytest.Addr(t), express: caddytest.Addr(t), tls: caddytest.Addr(t)}
	s.cert = certificate(t)
	s.Server = caddytest.Run(t, s.config(options, "1"))
	return s
}

func (s *sites) config(options, generation string) string {
	return `{
	order express_test before respond
	default_bind 127.0.0.1
	auto_https disable_redirects
	` + options + `
}
http://:` + port(s.caddy) + ` {
	express_test ` + generation + `
}
http://:` + port(s.express) + ` {
	express_test ` + generation + ` express
}
https://:` + port(s.tls) + ` {
	tls ` + s.cert + ` ` + s.cert + `
	express_test ` + generation + ` express
}
`
}

func port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// client is a connection on which a test speaks HTTP by hand.
type client struct {
	net.Conn
	t  testing.TB
	in *bufio.Reader
}

// dial opens a connection. One that was waiting to be accepted when a reload closed
// a socket of its port is reset by the system: then it is opened again.
func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	for errors.Is(err, syscall.ECONNRESET) {
		c, err = net.Dial("tcp", addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, c)
}

func newClient(t testing.TB, c net.Conn) *client {
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return &client{Conn: c, t: t, in: bufio.NewReader(c)}
}

func (s *sites) dial(t testing.TB) *client {
	t.Helper()
	return dial(t, s.express)
}

func (s *sites) dialTLS(t testing.TB) *client {
	t.Helper()
	c, err := tls.Dial("tcp", s.tls, &tls.Config{InsecureSkipVerify: true, ServerName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, c)
}

// over does something with a connection of each kind that was taken over.
func (s *sites) over(t *testing.T, do func(t *testing.T, c *client)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { do(t, s.taken(t)) })
	t.Run("TLS", func(t *testing.T) { do(t, s.takenTLS(t)) })
}

// taken opens a connection that is taken over.
func (s *sites) taken(t testing.TB) *client {
	return firstAnswered(t, func() (net.Conn, error) { return net.Dial("tcp", s.express) })
}

func (s *sites) takenTLS(t testing.TB) *client {
	return firstAnswered(t, func() (net.Conn, error) {
		return tls.Dial("tcp", s.tls, &tls.Config{InsecureSkipVerify: true, ServerName: "test"})
	})
}

// firstAnswered opens a connection and makes a request on it. Right after a
// reload Caddy may close a new connection, as if no server were there, and a
// server listens a moment before connections are taken over: then it opens
// another one.
func firstAnswered(t testing.TB, connect func() (net.Conn, error)) *client {
	t.Helper()
	var c *client
	eventually(t, "a first answer", func() bool {
		connection, err := connect()
		if err != nil {
			return false
		}
		c = newClient(t, connection)
		if _, err := io.WriteString(c, "GET /first HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
			return false
		}
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err == nil && resp.Header.Get("X-Path") == "express"
	})
	return c
}

func (c *client) send(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c, raw); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// answer reads one answer with its body.
func (c *client) answer(method string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("reading an answer: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("reading a body: %v", err)
	}
	return resp, string(body)
}

// get makes a request and checks which path answered it.
func (c *client) get(target, path string) (*http.Response, string) {
	c.t.Helper()
	c.send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n")
	resp, body := c.answer("GET")
	if got := resp.Header.Get("X-Path"); got != path {
		c.t.Fatalf("%s was answered on path %q, not %q", target, got, path)
	}
	return resp, body
}

// ended checks that the server has closed the connection.
func (c *client) ended() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.in); err != nil || len(rest) > 0 {
		c.t.Fatalf("instead of the end: %q, %v", rest, err)
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}

// open is what the metric says.
func open(t testing.TB) int {
	t.Helper()
	var m dto.Metric
	if err := connections.WithLabelValues("test").Write(&m); err != nil {
		t.Fatal(err)
	}
	return int(m.GetGauge().GetValue())
}
