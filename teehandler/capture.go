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
// that outlives its response, as reverse_proxy's transport does.
//
// What it has to know of the request it knows from the start, as handlers
// behind the tee may change the request.
type capture struct {
	snapshot *snapshot
	length   int64       // that the client has announced, or -1
	trailer  http.Header // filled in at the end of the body
	http1    bool
	closes   bool // the client has asked for the end of the connection
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
		closes:   r.Close,
		expects:  expectsContinue(r),
		limit:    limit,
		done:     done,
		src:      r.Body,
		buf:      (*s.bodyPool)[:0],
	}
}

// Read returns the primary what the client sent, as soon as it is there.
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

// Close ends the primary's reading. What it left is read on, unless it closes
// the body to stop a read going on.
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
	for more := true; n > 0 && more; {
		before := len(c.buf)
		more = c.readLocked(n)
		n -= int64(len(c.buf) - before)
	}
}

// readSome reads what comes next, up to n bytes, and reports whether there may
// be more.
func (c *capture) readSome(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readLocked(n)
}

func (c *capture) readLocked(n int64) (more bool) {
	if c.state != capturing || c.err != nil {
		return false
	}
	if !c.grow(1) {
		c.state = tooMuch
		return false
	}
	m, err := c.src.Read(c.buf[len(c.buf):min(int64(cap(c.buf)), int64(len(c.buf))+n)])
	c.buf = c.buf[:len(c.buf)+m]
	if int64(len(c.buf)) > c.limit {
		c.state = tooLarge
	}
	c.finishIfWhole()
	c.ended(err)
	return c.state == capturing && c.err == nil
}

// dropped returns why there is no copy of the body, or none. It waits for a read
// of the primary's going on.
func (c *capture) dropped() outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.dropped()
}

// captureState is how far the capture of a body has come.
type captureState int

const (
	capturing captureState = iota
	complete               // all of the body is there
	tooLarge               // it has more than the limit
	tooMuch                // of memory is in use
	broken                 // it has no proper end
)

// dropped returns why there is no copy of a body whose capture ended so, or none.
func (s captureState) dropped() outcome {
	switch s {
	case complete:
		return none
	case tooLarge:
		return droppedBodySize
	case tooMuch:
		return droppedMemory
	case capturing, broken:
	}
	return droppedBodyIncomplete
}

// keep adds to the copy what the primary has read.
func (c *capture) keep(p []byte) {
	switch {
	case int64(len(c.buf))+int64(len(p)) > c.limit:
		c.state = tooLarge
	case !c.grow(len(p)):
		c.state = tooMuch
	default:
		c.buf = append(c.buf, p...)
		c.given = len(c.buf)
		c.finishIfWhole()
		return
	}
	c.buf, c.given = nil, 0
	c.snapshot.giveBack()
}

// grow makes room for n more bytes, unless too much memory is in use. The
// length that the client has announced is believed when a part of it is there.
func (c *capture) grow(n int) bool {
	need := len(c.buf) + n
	if need <= cap(c.buf) {
		return true
	}
	if c.snapshot.memory.full() {
		return false
	}
	size := max(2*cap(c.buf), need)
	if c.length >= int64(need) && c.length <= 16*int64(need) {
		size = int(c.length)
	}
	grown := append(make([]byte, 0, size), c.buf...)
	c.snapshot.keep(cap(grown) - cap(c.buf))
	c.buf = grown
	return true
}

// finishIfWhole does not wait for the end if the announced length is there.
// Trailers come after it.
func (c *capture) finishIfWhole() {
	if c.state == capturing && int64(len(c.buf)) == c.length && len(c.trailer) == 0 {
		c.finish()
	}
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
	for name, values := range c.trailer {
		if len(values) > 0 {
			if c.snapshot.trailer == nil {
				c.snapshot.trailer = make(http.Header)
			}
			c.snapshot.trailer[name] = values
		}
	}
	c.done()
}
