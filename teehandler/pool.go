// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

const (
	idleTimeout = 15 * time.Second // below what servers commonly allow
	maxAge      = time.Minute      // how long a changed DNS record may go unnoticed
	dialPause   = 10 * time.Millisecond
)

// pool keeps the connections to one shadow alive between copies.
type pool struct {
	dialer  http1.Dialer
	oneShot bool // every connection is closed after one exchange
	maxIdle int  // connections kept for later

	mu     sync.Mutex
	idle   []*pooledConn // most recently used last
	reaper *time.Timer
	closed bool

	refusal atomic.Pointer[refusal]
}

type pooledConn struct {
	*http1.Conn
	created, idleSince time.Time
}

// refusal is a failure to connect, which stands for a moment: a shadow that is
// down costs no attempt per copy.
type refusal struct {
	until time.Time
	err   error
}

// exchange sends a request and reads its response, all before the deadline. The
// error is an *http1.Error.
func (p *pool) exchange(req *http1.Request, deadline time.Time, capture *http1.Capture) (http1.Response, error) {
	conn := p.take(time.Now())
	if conn == nil {
		var err error
		if conn, err = p.dial(deadline); err != nil {
			return http1.Response{}, err
		}
	}
	resp, err := conn.Exchange(req, deadline, capture)
	if resp.Reusable && !p.oneShot {
		p.put(conn)
	} else {
		conn.Close()
	}
	return resp, err
}

func (p *pool) dial(deadline time.Time) (*pooledConn, error) {
	if last := p.refusal.Load(); last != nil {
		if time.Now().Before(last.until) {
			return nil, last.err
		}
		p.refusal.CompareAndSwap(last, nil)
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	conn, err := p.dialer.Dial(ctx)
	if err != nil {
		if kind := http1.KindOf(err); kind != http1.Timeout && kind != http1.TLS {
			p.refusal.Store(&refusal{until: time.Now().Add(dialPause), err: err})
		}
		return nil, err
	}
	return &pooledConn{Conn: conn, created: time.Now()}, nil
}

// take returns the connection that was used last and is still good, or nil.
func (p *pool) take(now time.Time) *pooledConn {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return nil
		}
		conn := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.mu.Unlock()

		if now.Sub(conn.created) <= maxAge && now.Sub(conn.idleSince) <= idleTimeout && !conn.Stale() {
			return conn
		}
		conn.Close()
	}
}

// put keeps a connection for the next exchange.
func (p *pool) put(conn *pooledConn) {
	now := time.Now()
	conn.idleSince = now
	p.mu.Lock()
	if p.closed || len(p.idle) >= p.maxIdle || now.Sub(conn.created) > maxAge {
		p.mu.Unlock()
		conn.Close()
		return
	}
	p.idle = append(p.idle, conn)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(idleTimeout, p.reap)
	}
	p.mu.Unlock()
}

// reap closes the connections that have idled too long. It runs only as long
// as there are any.
func (p *pool) reap() {
	limit := time.Now().Add(-idleTimeout)
	p.mu.Lock()
	stale := 0
	for stale < len(p.idle) && !p.idle[stale].idleSince.After(limit) {
		stale++
	}
	reaped := append([]*pooledConn(nil), p.idle[:stale]...)
	rest := copy(p.idle, p.idle[stale:])
	clear(p.idle[rest:])
	p.idle = p.idle[:rest]
	if rest == 0 {
		p.reaper = nil
	} else {
		p.reaper.Reset(time.Until(p.idle[0].idleSince.Add(idleTimeout)))
	}
	p.mu.Unlock()

	for _, conn := range reaped {
		conn.Close()
	}
}

// close closes the idle connections, and those in use after their exchange. The
// pool may be used still; it keeps no more connections.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	if p.reaper != nil {
		p.reaper.Stop()
		p.reaper = nil
	}
	p.mu.Unlock()

	for _, conn := range idle {
		conn.Close()
	}
}
