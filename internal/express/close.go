// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"io"
	"net"
	"time"
)

// lingerTimeout is how long a client may go on sending after its last answer. To
// close a connection with unread input resets it, and the client might not see
// the answer; net/http waits as long.
const lingerTimeout = 500 * time.Millisecond

// close ends the connection so that the client gets all that was sent.
func (c *conn) close() {
	defer c.net.Close()
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || c.failed != nil || c.start == c.end && c.x.unread == 0 {
		return
	}
	if half.CloseWrite() == nil {
		_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout))
		_, _ = io.Copy(io.Discard, c.net)
	}
}

// Reset breaks a TCP connection off, below TLS and whatever else is on top of it.
func Reset(c net.Conn) {
	socket := socketOf(c)
	if tcp, ok := socket.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	socket.Close()
}
