// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package http1

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// silent tells whether an idle connection is open and has nothing to say. One
// that a server closed, or on which it spoke out of turn, is of no more use.
func silent(raw syscall.RawConn) bool {
	alive := false
	err := raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN || err == unix.EWOULDBLOCK
		return true
	})
	return err == nil && alive
}
