// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const watches = true

// sleepUntil waits for the client to leave, with the read deadline as its
// alarm clock. Data that arrives meanwhile is left where it is.
func (c *conn) sleepUntil(until time.Time) bool {
	if c.wire == nil {
		return c.sleepByTimer(until)
	}
	defer c.deadlines.forgetRead()
	c.state.Store(sleeping)
	for time.Now().Before(until) {
		c.deadlines.readAt(c.net, until)
		if c.pool.exiting() {
			return false
		}
		if err := c.wire.Read(hungUp); !errors.Is(err, os.ErrDeadlineExceeded) {
			return false
		}
	}
	return c.state.CompareAndSwap(sleeping, busy)
}

// hungUp reports whether the other side has ended the connection.
func hungUp(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, _ := unix.Poll(fds, 0)
	return n > 0
}
