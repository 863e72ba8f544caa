// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// capture is the body that the primary reads. It keeps what passes, and can
// read on where the primary does not. The primary may read from a goroutine
// that outlives its answer, as reverse_proxy's transport does.
//
// What it has to know of the request it knows from the start, as handlers
// behind the tee may change the request.
type capture struct {
	snapshot *snapshot
	length   int64       // that the client has announced, or -1
	trailer  http.Header // filled in at the end of the body
	http1    bool
	expects  bool // the client sends nothing before it is asked to
	limit    int64
	done     func()
	guard    *guardedWriter // nil if the server leaves unread bodies alone

	over    atomic.Bool // for the primary, which may read no more
	reading atomic.Bool // the primary does

	mu      sync.Mutex
	src     io.ReadCloser
	buf     []byte
	given   int // how much of buf the primary has
	state   captureState
	err     error // how src ended
	started bool  // the primary has read
}

// newCapture replaces the request's body. It calls done, once, when all of the
// body is in the snapshot, which it holds until the request is over.
func newCapture(r *http.Request, s *snapshot, limit int64, done func()) *capture {
	s.share()
	s.bodyPool = bodies.Get().(*[]byte)
	s.keep(cap(*s.bodyPool))
	return &capture{
		snapshot: s,
		length:   r.ContentLength,
		trailer:  r.Trailer,
		http1:    r.ProtoMajor == 1,
		expects:  expectsContinue(r),
		limit:    limit,
		done:     done,
		src:      r.Body,
		buf:      (*s.bodyPool)[:0],
	}
}

// Read gives the primary what the client sent, as soon as it is there.
func (c *capture) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading.Store(true)
	defer c.reading.Store(false)
	if c.over.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	c.started = true
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
	}
	c.ended(err)
	return n, err
}

// Close is the primary's end of reading. What it left is read on, unless it
// closes the body to stop a read going on.
func (c *capture) Close() error {
	if !c.over.Swap(true) && c.reading.Load() {
		return c.src.Close()
	}
	return nil
}

// takeOver ends the primary's reading. A read that a goroutine of it has left
// going on may wait for the client until the grace is over.
func (c *capture) takeOver(control *http.ResponseController, grace time.Duration) {
	c.over.Store(true)
	if c.reading.Load() {
		_ = control.SetReadDeadline(time.Now().Add(grace))
	}
}

// readOn reads up to n bytes, or to the end of the body, for the copy. The
// primary gets them if it reads later.
func (c *capture) readOn(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n > 0 && c.state == capturing && c.err == nil {
		if !c.grow(1) {
			c.state = tooMuch
			return
		}
		m, err := c.src.Read(c.buf[len(c.buf):min(int64(cap(c.buf)), int64(len(c.buf))+n)])
		n -= int64(m)
		c.buf = c.buf[:len(c.buf)+m]
		if int64(len(c.buf)) > c.limit {
			c.state = tooLarge
		}
		c.finishIfWhole()
		c.ended(err)
	}
}

// dropped tells why there is no copy of the body, or none. It waits for a read
// of the primary's going on.
func (c *capture) dropped() outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.dropped()
}
