// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"io"
	"net/http"
	"sync"
)

// captureState is how far the capture of a body has come.
type captureState int

const (
	capturing captureState = iota
	complete               // all of the body is there
	tooLarge               // it has more than the limit
	broken                 // it has no proper end
	detached               // the request is over
)

// capture is the body that the primary reads. It keeps what passes, and can
// read on where the primary does not. The primary may read from a goroutine
// that outlives its answer, as reverse_proxy's transport does.
type capture struct {
	snapshot *snapshot
	request  *http.Request
	limit    int64
	done     func()
	guard    *guardedWriter // nil if the server leaves unread bodies alone

	mu      sync.Mutex
	src     io.ReadCloser
	buf     []byte
	given   int // how much of buf the primary has
	state   captureState
	err     error // how src ended
	started bool  // the primary has read
	closed  bool  // by the primary
}

// newCapture replaces the request's body. It calls done, once, when all of the
// body is in the snapshot, which it holds until the request is over.
func newCapture(r *http.Request, s *snapshot, limit int64, done func()) *capture {
	s.hold()
	s.bodyPool = bodies.Get().(*[]byte)
	return &capture{snapshot: s, request: r, limit: limit, done: done, src: r.Body, buf: (*s.bodyPool)[:0]}
}

// Read gives the primary what the client sent, as soon as it is there.
func (c *capture) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = true
	if c.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if c.given < len(c.buf) {
		n := copy(p, c.buf[c.given:])
		c.given += n
		return n, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.src.Read(p)
	if c.state == capturing {
		c.keep(p[:n])
		c.given = len(c.buf)
		if c.state == tooLarge {
			c.buf, c.given = nil, 0
		}
	}
	c.ended(err)
	return n, err
}

// Close is the primary's end of reading. What it left is read on, unless it
// closes the body to stop a read going on.
func (c *capture) Close() error {
	if !c.mu.TryLock() {
		return c.src.Close()
	}
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

// readOn reads up to n bytes, or to the end of the body, for the copy. The
// primary gets them if it reads later.
func (c *capture) readOn(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n > 0 && c.state == capturing && c.err == nil {
		if len(c.buf) == cap(c.buf) {
			c.buf = append(c.buf, 0)[:len(c.buf)]
		}
		room := c.buf[len(c.buf):min(int64(cap(c.buf)), int64(len(c.buf))+n)]
		m, err := c.src.Read(room)
		n -= int64(m)
		c.keep(room[:m])
		c.ended(err)
	}
}

// keep adds to the copy what came from the client.
func (c *capture) keep(p []byte) {
	if int64(len(c.buf))+int64(len(p)) > c.limit {
		c.state = tooLarge
	}
	c.buf = append(c.buf, p...)
	if c.state == capturing && c.whole() {
		c.finish()
	}
}

// whole tells whether the announced length is there. Trailers come after it.
func (c *capture) whole() bool {
	return int64(len(c.buf)) == c.request.ContentLength && len(c.request.Trailer) == 0
}

// ended takes note of the end of the body.
func (c *capture) ended(err error) {
	if err == nil || c.err != nil {
		return
	}
	c.err = err
	if c.state != capturing {
		return
	}
	if err == io.EOF {
		c.finish()
	} else {
		c.state = broken
	}
}

// finish hands the body over to the snapshot.
func (c *capture) finish() {
	c.state = complete
	c.snapshot.body = c.buf
	for name, values := range c.request.Trailer {
		if len(values) > 0 {
			if c.snapshot.trailer == nil {
				c.snapshot.trailer = make(http.Header)
			}
			c.snapshot.trailer[name] = values
		}
	}
	c.done()
}

// detach ends the capture, and tells how far it has come. The primary must not
// read from now on, and what still does is told so.
func (c *capture) detach() captureState {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := c.state
	c.state, c.closed, c.buf = detached, true, nil
	c.given = 0
	return state
}
