// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxHead is how long a head may be to be plain. Longer ones are Caddy's.
const maxHead = 8 << 10

// buffers are what a connection needs while it is not idle.
type buffers struct {
	in      []byte
	out     []byte // gathered to be sent
	own     Fields // of the response at hand
	pieces  [][]byte
	waiting net.Buffers
}

var spare = sync.Pool{New: func() any {
	return &buffers{in: make([]byte, maxHead), out: make([]byte, 0, 2*maxCopied)}
}}

// noBuffers is what an idle connection has.
var noBuffers = new(buffers)

func (c *conn) buffered() []byte { return c.in[c.start:c.end] }

// acquire gets buffers, unless the connection has them already.
func (c *conn) acquire() {
	if c.buffers == noBuffers {
		c.buffers = spare.Get().(*buffers)
	}
}

// preload puts what was read before into the input of a new connection.
func (c *conn) preload(first []byte) {
	c.acquire()
	if len(first) > len(c.in) {
		c.in = first
	}
	c.start, c.end = 0, copy(c.in, first)
}

// release puts the buffers back into the pool if there is nothing in them.
func (c *conn) release() {
	if c.start < c.end || len(c.out) > 0 || c.buffers == noBuffers {
		return
	}
	if len(c.in) == maxHead && cap(c.out) <= 4*maxCopied {
		spare.Put(c.buffers)
	}
	c.buffers, c.start, c.end = noBuffers, 0, 0
}

// shrink goes back to a buffer of the usual size when what a large first body
// needed has been read.
func (c *conn) shrink() {
	if len(c.in) > maxHead && c.end-c.start < maxHead {
		in := make([]byte, maxHead)
		c.start, c.end, c.in = 0, copy(in, c.buffered()), in
	}
}

// fill reads more behind what is buffered.
func (c *conn) fill() error {
	c.shrink()
	c.end = copy(c.in, c.buffered())
	c.start = 0
	n, err := c.net.Read(c.in[c.end:])
	c.end += n
	if n > 0 {
		return nil
	}
	return err
}

// await waits for the first bytes of the next request, behind the line end that
// some old clients send after the body of a POST. It reports false when the
// connection has ended instead.
func (c *conn) await() bool {
	lineEnds := 0
	if c.x.Method == http.MethodPost {
		lineEnds = maxLineEnds
	}
	for {
		lineEnds -= c.skipLineEnds(lineEnds)
		if c.start < c.end {
			return true
		}
		if !c.awaitMore() {
			return false
		}
	}
}

// awaitMore waits for whatever comes next.
func (c *conn) awaitMore() bool {
	c.flush()
	if c.failed != nil {
		c.net.Close()
		return false
	}
	c.deadlines.read(c.net, c.limits.idle, time.Time{}, 0)
	c.state.Store(idle)
	if c.pool.swept.Load() { // the pool may have looked just before
		c.net.Close()
		return false
	}
	err := c.fillWhenReady()
	if !c.state.CompareAndSwap(idle, busy) || err != nil {
		c.net.Close()
		return false
	}
	return true
}

// maxLineEnds is how many characters net/http ignores between the body of a POST
// and the next request.
const maxLineEnds = 4

// skipLineEnds drops up to limit characters of line ends from the beginning of
// what is buffered.
func (c *conn) skipLineEnds(limit int) (n int) {
	for n < limit && c.start < c.end && (c.in[c.start] == '\r' || c.in[c.start] == '\n') {
		c.start++
		n++
	}
	return n
}

// What is buffered may be a whole plain head, the beginning of one, or
// something that Caddy has to see.
type scanned int

const (
	partial scanned = iota
	whole
	strange
)

// scan looks for a head in what is buffered and takes it out. Clients repeat
// themselves: a head like the last one has been parsed already.
func (c *conn) scan() scanned {
	buffered := c.buffered()
	if n := len(c.x.raw); n > 0 && len(buffered) >= n && string(buffered[:n]) == c.x.raw {
		c.start += n
		return whole
	}
	end := bytes.Index(buffered, []byte("\r\n\r\n"))
	if end < 0 {
		if len(buffered) >= min(maxHead, c.limits.head) || !hopeful(buffered) {
			return strange
		}
		return partial
	}
	end += len("\r\n\r\n")
	if end > c.limits.head || !c.x.parse(string(buffered[:end])) || !c.isHere(c.x.Host) {
		c.x.raw = ""
		return strange
	}
	c.start += end
	return whole
}

// isHere reports whether a request for a host is for the handler.
func (c *conn) isHere(host string) bool {
	if host == c.host {
		return true
	}
	if !c.leadsHere(host) {
		return false
	}
	c.host = strings.Clone(host) // not the whole head
	return true
}

// hopeful reports whether the beginning of a head may become a plain one. Where
// it cannot, the client may be waiting for its response already.
func hopeful(beginning []byte) bool {
	var h Head
	line, _, whole := bytes.Cut(beginning, []byte("\n"))
	if whole && !h.requestLine(strings.TrimSuffix(string(line), "\r")) {
		return false
	}
	return bytes.Count(beginning, []byte("\n")) == bytes.Count(beginning, []byte("\r\n"))
}
