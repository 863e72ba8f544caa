// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers every name with one address, and counts the questions for
// IPv4 addresses. The process asks it instead of the system.
type nameServer struct {
	address atomic.Pointer[[4]byte]
	asked   atomic.Int64
}

func startNameServer(t *testing.T) *nameServer {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := new(nameServer)
	go s.serve(conn)
	system := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = system
		conn.Close()
	})
	return s
}

func (s *nameServer) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			s.asked.Add(1)
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AResource{A: *s.address.Load()},
			}}
		}
		if answer, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(answer, from)
		}
	}
}

// serveOn answers with a status of its own on a port of one of the addresses.
func serveOn(t *testing.T, addr string, status int) (port string) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	serveListener(t, ln, fmt.Sprintf("HTTP/1.1 %d Fine\r\nContent-Length: 0\r\n\r\n", status))
	_, port, _ = net.SplitHostPort(ln.Addr().String())
	return port
}

// A name is looked up for new connections only, and no connection is old.
func TestChangesOfDNSAreFollowed(t *testing.T) {
	dns := startNameServer(t)
	dns.address.Store(&[4]byte{127, 0, 0, 1})
	port := serveOn(t, "127.0.0.1:0", 201)
	serveOn(t, "127.0.0.2:"+port, 202)
	c := newClient(t, "shadow.rehearsal.test:"+port)
	exchange := func(want int, lookups int64) {
		t.Helper()
		if status, err := c.Exchange(page, soon()); err != nil || status != want {
			t.Fatalf("got %d, error %v; want %d", status, err, want)
		}
		if n := dns.asked.Load(); n != lookups {
			t.Errorf("the name was looked up %d times, want %d", n, lookups)
		}
	}
	exchange(201, 1)
	dns.address.Store(&[4]byte{127, 0, 0, 2})
	exchange(201, 1)
	c.idle[0].created = c.idle[0].created.Add(-2 * maxAge)
	exchange(202, 2)
	exchange(202, 2)
}
