// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers every question for an IPv4 address with the one it has,
// and counts these questions.
type nameServer struct {
	address atomic.Pointer[[4]byte]
	asked   atomic.Int64
}

// serveNames makes a name server the resolver of this process.
func serveNames(t *testing.T) *nameServer {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := new(nameServer)
	go func() {
		packet := make([]byte, 512)
		for {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := s.answer(packet[:n]); err == nil {
				socket.WriteTo(answer, from)
			}
		}
	}()
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		socket.Close()
	})
	return s
}

func (s *nameServer) answer(packet []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	if question := m.Questions[0]; question.Type == dnsmessage.TypeA {
		s.asked.Add(1)
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: *s.address.Load()},
		}}
	}
	return m.Pack()
}

// New connections follow a name that moves; those that are kept don't ask.
func TestConnectionsFollowNames(t *testing.T) {
	names := serveNames(t)
	old, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(old.Addr().String())
	moved, err := net.Listen("tcp4", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			w.Header().Set("Connection", "close")
		}
		got <- r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()
	})
	for _, ln := range []net.Listener{old, moved} {
		server := httptest.NewUnstartedServer(answer)
		server.Listener.Close()
		server.Listener = ln
		server.Start()
		t.Cleanup(server.Close)
	}
	target, err := ParseTarget("moving.test:" + port)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, target, Options{})
	send := func(path string, want net.Listener, asked int64) {
		t.Helper()
		mustSend(t, client, record("POST", path, "", "Host: a"))
		if address := next(t, got); address != want.Addr().String() || names.asked.Load() != asked {
			t.Fatalf("%s came to %s, want %s; the name was looked up %d times, want %d", path, address, want.Addr(), names.asked.Load(), asked)
		}
	}
	names.address.Store(&[4]byte{127, 0, 0, 1})
	for n := range 5 {
		send(fmt.Sprint("/", n), old, 1)
	}
	names.address.Store(&[4]byte{127, 0, 0, 2})
	send("/kept", old, 1)
	send("/last", old, 1)
	send("/moved", moved, 2)
	send("/moved", moved, 2)
}

func TestNameAskedForInTLS(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		asked <- hello.ServerName
		return nil, nil
	}}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, tc := range []struct{ host, name, want string }{
		{"localhost", "", "localhost"},
		{"127.0.0.1", "", ""}, // an address is no name
		{"127.0.0.1", "shop.test", "shop.test"},
		{"127.0.0.1", "shop.test:8443", "shop.test"},
		{"localhost", "www.shop.test", "www.shop.test"},
	} {
		target, err := ParseTarget("https://" + net.JoinHostPort(tc.host, port))
		if err != nil {
			t.Fatal(err)
		}
		for _, http2 := range []bool{false, true} {
			client := newClient(t, target, Options{Insecure: true, HTTP2: http2, ServerName: tc.name})
			if _, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now()); err != nil {
				t.Fatal(err)
			}
			if got := next(t, asked); got != tc.want {
				t.Errorf("%s as %q, HTTP/2 %v: asked for %q, want %q", tc.host, tc.name, http2, got, tc.want)
			}
		}
	}
}
