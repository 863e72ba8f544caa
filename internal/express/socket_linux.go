// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/caddy-rehearsal/rehearsal/internal/memfile"
)

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

// transfer is what a connection is sending from a file.
type transfer struct {
	head   []byte
	file   int
	offset int64
	left   int
	err    error
}

// sendFile sends what has been gathered and then the beginning of an extent. A
// client that is slow but takes something within each timeout is waited for.
func (c *conn) sendFile(from memfile.Extent, length int) {
	t := &c.transfer
	*t = transfer{head: c.out, file: int(from.File.Fd()), offset: from.Offset, left: length}
	for t.left > 0 && c.failed == nil {
		before := t.left + len(t.head)
		c.armWrite()
		c.failed = c.wire.Write(c.transferReady)
		if c.failed == nil {
			c.failed = t.err
		}
		if errors.Is(c.failed, os.ErrDeadlineExceeded) && t.left+len(t.head) < before {
			c.failed = nil
		}
	}
	*t = transfer{}
	runtime.KeepAlive(from.File)
	c.sent()
}

// transferNow sends what the socket takes and reports whether that was all, or
// the end of it.
func (c *conn) transferNow(fd uintptr) bool {
	t := &c.transfer
	for len(t.head) > 0 {
		n, err := unix.SendmsgN(int(fd), t.head, nil, nil, unix.MSG_MORE)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return t.stops(err)
		}
		t.head = t.head[n:]
	}
	for {
		n, err := c.sendPart(int(fd))
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return t.stops(err)
		}
		t.left -= n
		if t.left == 0 {
			return true
		}
		if !takesMore(fd) {
			return false
		}
	}
}

// sendPart sends as much of the file as the socket takes.
func (c *conn) sendPart(fd int) (int, error) {
	c.gate.enter()
	defer c.gate.leave()
	return unix.Sendfile(fd, c.transfer.file, &c.transfer.offset, c.transfer.left)
}

// takesMore asks a socket that has just taken a part whether it was interrupted
// or is full. sendfile would say so as well, but only after it had collected
// pages of the file, for nothing.
func takesMore(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return n > 0 || err != nil
}

// stops notes an error and reports whether it ends the transfer.
func (t *transfer) stops(err error) bool {
	if err == unix.EAGAIN {
		return false
	}
	t.err = err
	return true
}
