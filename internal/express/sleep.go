// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"os"
	"time"
)

// Sleep sends what has been written, then waits. It reports false when the
// request is over before that: its client has left or Caddy is exiting.
func (x *Exchange) Sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	c := x.conn
	c.flush()
	c.release()
	defer c.acquire()
	if c.failed == nil && c.sleepUntil(time.Now().Add(d)) {
		return true
	}
	x.last, x.answered = true, true
	return false
}

// Watched reports whether Sleep notices that the client leaves. Where that shows
// by reading, it does not once the client has sent more than is looked at.
func (x *Exchange) Watched() bool { return x.conn.looks() || x.conn.end < len(x.conn.in) }

// sleepUntil waits for the client to leave, with the read deadline as its
// alarm clock.
func (c *conn) sleepUntil(until time.Time) bool {
	defer c.deadlines.forgetRead()
	c.state.Store(sleeping)
	for time.Now().Before(until) {
		c.deadlines.readAt(c.net, until)
		if c.pool.exiting() {
			return false
		}
		if !c.stays(until) {
			return false
		}
	}
	return c.state.CompareAndSwap(sleeping, busy)
}

// stays waits until the read deadline, or until the client has sent something,
// and reports whether the client is still there.
func (c *conn) stays(until time.Time) bool {
	if c.looks() {
		return errors.Is(c.look(), os.ErrDeadlineExceeded)
	}
	if c.acquire(); c.start > 0 {
		c.start, c.end = 0, copy(c.in, c.buffered())
	}
	if c.end == len(c.in) {
		return c.waits(until)
	}
	n, err := c.net.Read(c.in[c.end:])
	c.end += n
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// waits lets time pass without an eye on the client.
func (c *conn) waits(until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.pool.exit:
	case <-c.pool.over:
	}
	return false
}
