// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package express

import (
	"io"
	"syscall"
)

// fillWhenReady reads the first bytes of a request. On a bare socket the buffers
// are held only while there is something to read, so that idle connections cost
// next to nothing.
func (c *conn) fillWhenReady() error {
	if !c.bare {
		c.acquire()
		return c.fill()
	}
	if err := c.wire.Read(c.fillReady); err != nil {
		return err
	}
	return c.readErr
}

// fillNow reads what is there and reports whether that was anything.
func (c *conn) fillNow(fd uintptr) bool {
	c.acquire()
	c.shrink()
	n, err := syscall.Read(int(fd), c.in)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(fd), c.in)
	}
	if err == syscall.EAGAIN {
		c.release()
		return false
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	c.start, c.end, c.readErr = 0, max(n, 0), err
	return true
}
