// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// conn is a connection that was taken over, served by one goroutine.
type conn struct {
	pool               *Pool
	net                net.Conn
	bare               bool            // net is a socket, with nothing on top of it
	wire               syscall.RawConn // of that socket or of the one below TLS; nil if unknown
	server             *http.Server    // that accepted it and takes it back
	site               *caddyhttp.Server
	host               string // for which requests are known to lead here
	limits             limits
	serverLine, altSvc string // header lines of every response

	state     atomic.Uint32 // one of those below
	deadlines deadlines
	failed    error // of writing
	x         Exchange

	*buffers
	start, end    int // of what is buffered, in buffers.in
	fillReady     func(fd uintptr) bool
	transfer      transfer
	transferReady func(fd uintptr) bool
	gate          gate // that large bodies pass
	readErr       error
}

// A connection is idle while it waits for a request, and sleeping while one of
// its requests waits for nothing but time. Its pool closes an idle one and wakes
// a sleeping one; a busy one ends by itself.
const (
	busy uint32 = iota
	idle
	sleeping
	closed
)

// serve answers one request after the other.
func (c *conn) serve() {
	defer c.pool.remove(c)
	defer c.release()
	defer c.recover()
	for c.await() && c.next() && c.exchange() {
	}
}

// exchange reads a request, answers it, and reports whether another may follow.
func (c *conn) exchange() bool {
	c.x.begin()
	if !c.pool.handler.TakesExpress(&c.x) {
		c.start -= len(c.x.raw)
		c.giveBack()
		return false
	}
	c.pool.handler.ServeExpress(&c.x)
	if c.x.unsent != 0 || !c.x.responded {
		c.x.last = true // the client must see that the response is not whole
	}
	if len(c.out) > maxGathered {
		c.flush()
	}
	if !c.x.last && c.x.drain() {
		return true
	}
	c.flush()
	c.close()
	return false
}

// maxGathered is how much is gathered of the responses to requests that came
// together before it is sent.
const maxGathered = 32 << 10

// next finds the head of the next request. When there is none, or none that is
// plain, the connection has been dealt with.
func (c *conn) next() bool {
	c.x.first = time.Now()
	c.x.Started = c.x.first
	for {
		switch c.scan() {
		case whole:
			return true
		case strange:
			c.giveBack()
			return false
		case partial:
		}
		c.flush()
		c.deadlines.read(c.net, 0, c.x.first, c.limits.wholeHead())
		if err := c.fill(); err != nil {
			c.giveUp(err)
			return false
		}
		c.x.Started = time.Now()
	}
}

// giveUp ends a connection whose client stopped within a head. Caddy answers
// one that cannot end well; one that is late gets no response.
func (c *conn) giveUp(err error) {
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		c.close()
		return
	}
	c.giveBack()
}

func (c *conn) recover() {
	err := recover()
	if err == nil {
		return
	}
	if err != http.ErrAbortHandler {
		c.pool.logger.Error("panic while answering a request",
			zap.Any("error", err), zap.String("stack", string(debug.Stack())))
	}
	c.net.Close()
}

// lingerTimeout is how long a client may go on sending after its last response.
// To close a connection with unread input resets it, and the client might not see
// the response; net/http waits as long.
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
