// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package http1

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hasInput reports whether there is anything to read from a socket: its end, or
// what nobody asked for.
func hasInput(socket syscall.RawConn) bool {
	var errPeek error
	err := socket.Control(func(fd uintptr) {
		var one [1]byte
		_, _, errPeek = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err != nil || errPeek != unix.EAGAIN && errPeek != unix.EWOULDBLOCK && errPeek != unix.EINTR //nolint:errorlint // plain numbers
}
