// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import "golang.org/x/sys/unix"

// looks reports whether look can tell that the client has left.
func (c *conn) looks() bool { return c.wire != nil }

// look waits for the client to leave. What it sends meanwhile is left where it
// is. The error is that of the read deadline while the client is there.
func (c *conn) look() error { return c.wire.Read(hungUp) }

// hungUp reports whether the other side has ended the connection.
func hungUp(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, _ := unix.Poll(fds, 0)
	return n > 0
}
