// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import "time"

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

// Watched reports whether Sleep notices that the client leaves.
func (x *Exchange) Watched() bool { return watches && x.conn.wire != nil }

// sleepByTimer waits without an eye on the client.
func (c *conn) sleepByTimer(until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.pool.exit:
		return false
	case <-c.pool.over:
		return false
	}
}
