// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"io"
	"net/http"
)

// captureState is how far the capture of a body has come.
type captureState int

const (
	capturing captureState = iota
	complete               // all of the body is there
	tooLarge               // it has more than the limit
	tooMuch                // of memory is in use
	broken                 // it has no proper end
)

// dropped tells why there is no copy of a body whose capture ended so, or none.
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
