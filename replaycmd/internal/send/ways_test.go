// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// way is a kind of connection; every one has to treat the same requests alike.
type way struct {
	name    string
	options Options
	serve   func(t *testing.T, handler http.Handler) Target
}

var ways = []way{
	{"HTTP/1.1", Options{}, func(t *testing.T, h http.Handler) Target { return serve(t, h, false, "tcp") }},
	{"HTTP/1.1, a connection for each", Options{NoKeepAlive: true}, func(t *testing.T, h http.Handler) Target { return serve(t, h, false, "tcp") }},
	{"HTTP/1.1 with TLS", Options{Insecure: true}, func(t *testing.T, h http.Handler) Target { return serve(t, h, true, "tcp") }},
	{"HTTP/1.1 on a socket", Options{}, func(t *testing.T, h http.Handler) Target { return serve(t, h, false, "unix") }},
	{"HTTP/2 with TLS", Options{Insecure: true, HTTP2: true}, func(t *testing.T, h http.Handler) Target { return serve(t, h, true, "tcp") }},
	{"HTTP/2 without TLS", Options{HTTP2: true}, func(t *testing.T, h http.Handler) Target { return serve(t, h, false, "tcp") }},
	{"HTTP/2 on a socket", Options{HTTP2: true}, func(t *testing.T, h http.Handler) Target { return serve(t, h, false, "unix") }},
}

// serve starts a server that speaks HTTP/1.1 and HTTP/2.
func serve(t *testing.T, handler http.Handler, secure bool, network string) Target {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = ln
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetHTTP2(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.DisableGeneralOptionsHandler = true
	server.EnableHTTP2 = true
	text := "unix/" + address
	switch {
	case secure:
		server.StartTLS()
		text = "https://" + ln.Addr().String()
	case network == "tcp":
		server.Start()
		text = "http://" + ln.Addr().String()
	default:
		server.Start()
	}
	t.Cleanup(server.Close)
	target, err := ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// newClient returns a client to the target with a generous timeout.
func newClient(t *testing.T, target Target, options Options) *Client {
	t.Helper()
	if options.Timeout == 0 {
		options.Timeout = 20 * time.Second
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	client := NewClient(ctx, NewDialer(target, options))
	t.Cleanup(client.Close)
	return client
}

// record returns a record of a request; the fields are lines without their ends.
func record(method, target, body string, fields ...string) *recording.Request {
	r := &recording.Request{Method: []byte(method), URI: []byte(target), Body: []byte(body)}
	for _, field := range fields {
		r.Headers = append(r.Headers, field+"\r\n"...)
	}
	return r
}

func message(t *testing.T, r *recording.Request) *Message {
	t.Helper()
	m := new(Message)
	if err := new(Rewriter).Write(m, r); err != nil {
		t.Fatal(err)
	}
	return m
}

// mustSend sends a record and expects a response.
func mustSend(t *testing.T, client *Client, r *recording.Request) Response {
	t.Helper()
	answer, err := client.Send(message(t, r), time.Now())
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URI, err)
	}
	return answer
}

// next returns what a handler has seen.
func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("the request did not reach the handler")
		panic("unreachable")
	}
}

func isHTTP2(w way) bool { return strings.HasPrefix(w.name, "HTTP/2") }

// contextUntil returns a context that ends with a channel.
func contextUntil(end <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
