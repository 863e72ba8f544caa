// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
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
	serverLine, altSvc string // header lines of every answer

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

// exchange has one request answered and reports whether another may follow.
func (c *conn) exchange() bool {
	c.x.begin()
	if !c.pool.handler.TakesExpress(&c.x) {
		c.start -= len(c.x.raw)
		c.giveBack()
		return false
	}
	c.pool.handler.ServeExpress(&c.x)
	if c.x.unsent != 0 || !c.x.answered {
		c.x.last = true // the client must see that the answer is not whole
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

// maxGathered is how much is gathered of the answers to requests that came
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
// one that cannot end well; to a client that is late it says nothing.
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
