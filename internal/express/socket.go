// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net"
	"syscall"
)

// isBare reports whether what is read from c is what its socket received.
func isBare(c net.Conn) bool {
	switch c.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}

// socketOf finds the socket below whatever is on top of it, like TLS.
func socketOf(c net.Conn) net.Conn {
	for {
		above, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = above.NetConn()
	}
}

func wireOf(c net.Conn) syscall.RawConn {
	socket := socketOf(c)
	if !isBare(socket) {
		return nil
	}
	wire, err := socket.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	return wire
}
