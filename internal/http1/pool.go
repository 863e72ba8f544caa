// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import "time"

// take gives the connection that was used last and is still good, or nil.
func (c *Client) take(now time.Time) *conn {
	for {
		c.mu.Lock()
		n := len(c.idle)
		if n == 0 {
			c.mu.Unlock()
			return nil
		}
		conn := c.idle[n-1]
		c.idle[n-1] = nil
		c.idle = c.idle[:n-1]
		c.mu.Unlock()

		if conn.good(now) {
			return conn
		}
		conn.Close()
	}
}

// put keeps a connection for the next exchange.
func (c *Client) put(conn *conn) {
	now := time.Now()
	conn.idleSince = now
	c.mu.Lock()
	if c.closed || len(c.idle) >= c.MaxIdle || now.Sub(conn.created) > maxAge {
		c.mu.Unlock()
		conn.Close()
		return
	}
	c.idle = append(c.idle, conn)
	if c.reaper == nil {
		c.reaper = time.AfterFunc(idleTimeout, c.reap)
	}
	c.mu.Unlock()
}

// reap closes the connections that have idled too long. It runs only as long
// as there are any.
func (c *Client) reap() {
	limit := time.Now().Add(-idleTimeout)
	c.mu.Lock()
	stale := 0
	for stale < len(c.idle) && !c.idle[stale].idleSince.After(limit) {
		stale++
	}
	reaped := append([]*conn(nil), c.idle[:stale]...)
	rest := copy(c.idle, c.idle[stale:])
	clear(c.idle[rest:])
	c.idle = c.idle[:rest]
	if rest == 0 {
		c.reaper = nil
	} else {
		c.reaper.Reset(time.Until(c.idle[0].idleSince.Add(idleTimeout)))
	}
	c.mu.Unlock()

	for _, conn := range reaped {
		conn.Close()
	}
}

// Close closes the idle connections, and those in use after their exchange.
// The client may be used still; it keeps no more connections.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = nil
	if c.reaper != nil {
		c.reaper.Stop()
		c.reaper = nil
	}
	c.mu.Unlock()

	for _, conn := range idle {
		conn.Close()
	}
}
