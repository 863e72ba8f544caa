// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const canShare = true

// copyToFile makes a file in memory; -1 if the system has none to give.
func copyToFile(content []byte) int {
	fd, err := unix.MemfdCreate("body", unix.MFD_CLOEXEC)
	if err != nil {
		return -1
	}
	for len(content) > 0 {
		n, err := unix.Write(fd, content)
		if err != nil && !errors.Is(err, unix.EINTR) {
			closeFile(fd)
			return -1
		}
		content = content[max(n, 0):]
	}
	return fd
}

func closeFile(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// transfer is what a connection is sending from a file.
type transfer struct {
	head   []byte
	file   int
	offset int64
	left   int
	err    error
}

// sendShared sends what has been gathered and then the piece, as far as it is
// one that was shared, and reports whether it did.
func (c *conn) sendShared(piece []byte) bool {
	file, offset, ok := shared(piece)
	if !ok || c.wire == nil {
		return false
	}
	t := &c.transfer
	*t = transfer{head: c.out, file: file, offset: offset, left: len(piece)}
	for t.left > 0 && c.failed == nil {
		before := t.left + len(t.head)
		c.armWrite()
		c.failed = c.wire.Write(c.transferReady)
		if c.failed == nil {
			c.failed = t.err
		}
		if errors.Is(c.failed, os.ErrDeadlineExceeded) && t.left+len(t.head) < before {
			c.failed = nil // slow, but not idle
		}
	}
	*t = transfer{}
	runtime.KeepAlive(piece) // and with it the file
	return true
}

// transferNow sends what the socket takes and reports whether that was all, or
// the end of it.
func (c *conn) transferNow(fd uintptr) bool {
	t := &c.transfer
	for len(t.head) > 0 {
		n, err := unix.SendmsgN(int(fd), t.head, nil, nil, unix.MSG_MORE)
		if err != nil {
			return t.stops(err)
		}
		t.head = t.head[n:]
	}
	for t.left > 0 {
		n, err := unix.Sendfile(int(fd), t.file, &t.offset, t.left)
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return t.stops(err)
		}
		t.left -= n
	}
	return true
}

// stops notes an error and reports whether it ends the transfer.
func (t *transfer) stops(err error) bool {
	if err == unix.EAGAIN {
		return false
	}
	t.err = err
	return true
}
