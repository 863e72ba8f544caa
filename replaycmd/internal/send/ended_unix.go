// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package send

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ended says whether an idle connection has anything to read: its end, or what
// no one asked for.
func ended(conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var errPeek error
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, errPeek = unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err != nil || errPeek != unix.EAGAIN && errPeek != unix.EWOULDBLOCK && errPeek != unix.EINTR //nolint:errorlint // plain numbers
}
