// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// serve responds to every request on every connection with the same bytes, and
// counts the connections.
func serve(t *testing.T, answer string) (addr string, conns *atomic.Int64) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln.Addr().String(), serveListener(t, ln, answer)
}

func serveListener(t *testing.T, ln net.Listener, answer string) (conns *atomic.Int64) {
	conns = new(atomic.Int64)
	peertest.ServeOn(t, ln, func(conn *net.TCPConn) {
		conns.Add(1)
		peertest.Responding(answer)(conn)
	})
	return conns
}

func newPool(t *testing.T, addr string) *pool {
	p := &pool{dialer: http1.Dialer{Network: "tcp", Address: addr}, maxIdle: 10}
	t.Cleanup(p.close)
	return p
}

// fetch exchanges a plain request for the status of its response.
func (p *pool) fetch() (int, error) {
	resp, err := p.exchange(&pageRequest, soon(), nil)
	return resp.Status, err
}

func soon() time.Time { return time.Now().Add(patience) }

var pageRequest = http1.Request{Head: []byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")}

func TestRefusalStandsForAMoment(t *testing.T) {
	c := newPool(t, peertest.Addr(t))
	_, first := c.fetch()
	c.refusal.Load().until = soon()
	if _, second := c.fetch(); first == nil || second != first {
		t.Errorf("got errors %v and %v, want the same", first, second)
	}
	addr, _ := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c.dialer.Address = addr
	c.refusal.Load().until = time.Now()
	if status, err := c.fetch(); err != nil || status != 204 || c.refusal.Load() != nil {
		t.Errorf("got %d, error %v after the pause", status, err)
	}
}

// The deadline of an exchange is no end of its connection.
func TestIdleConnectionsOutliveTheirDeadline(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newPool(t, addr)
	for range 2 {
		deadline := time.Now().Add(time.Second)
		if _, err := c.exchange(&pageRequest, deadline, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(deadline))
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestClosedPoolKeepsNothing(t *testing.T) {
	addr, conns := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newPool(t, addr)
	for range 2 {
		if _, err := c.fetch(); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
	for range 2 {
		if _, err := c.fetch(); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n != 3 || len(c.idle) != 0 || c.reaper != nil {
		t.Errorf("%d connections, %d idle; want 3 and none", n, len(c.idle))
	}
}

func TestIdleConnectionsAreReaped(t *testing.T) {
	addr, _ := serve(t, "HTTP/1.1 204 No\r\n\r\n")
	c := newPool(t, addr)
	if _, err := c.fetch(); err != nil {
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
	c := newPool(t, addr)
	for range 3 {
		if _, err := c.fetch(); err != nil {
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
	c := newPool(t, "shadow.rehearsal.test:"+port)
	exchange := func(want int, lookups int64) {
		t.Helper()
		if status, err := c.fetch(); err != nil || status != want {
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
