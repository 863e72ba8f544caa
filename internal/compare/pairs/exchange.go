// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
)

// Request is a request as data.
type Request struct {
	// ID is by which the pair is found again, in Examples and reports.
	ID                   string
	Method, Target, Body []byte
	// Header has a line for each field, as in compare.Response.
	Header []byte
}

func (r *Request) size() int64 {
	return int64(len(r.ID) + len(r.Method) + len(r.Target) + len(r.Header) + len(r.Body))
}

func (r *Request) copy(from *Request) {
	rest := make([]byte, 0, from.size())
	r.ID = from.ID
	r.Method, rest = keep(rest, from.Method)
	r.Target, rest = keep(rest, from.Target)
	r.Header, rest = keep(rest, from.Header)
	r.Body, _ = keep(rest, from.Body)
}

// keep copies b behind what is in the buffer.
func keep(buffer, b []byte) (kept, rest []byte) {
	n := len(buffer)
	buffer = append(buffer, b...)
	return buffer[n:len(buffer):len(buffer)], buffer
}

// Exchange is one request whose responses are compared. Its methods may be
// called by many goroutines, and never wait, unless the pool is Patient.
type Exchange struct {
	pool     *Pool
	request  Request
	deadline time.Time

	// under the pool's lock
	sides         []side
	few           [3]side // the sides, if there are no more
	lacking       int
	complete      bool
	held          int64
	before, after *Exchange // in the list that it is in
}

// side is the response of one system, or why there is none.
type side struct {
	known    bool
	reason   string
	response compare.Response
	buffer   *[]byte
}

func newExchange(p *Pool, held int64) *Exchange {
	x := &Exchange{pool: p, held: held, lacking: p.options.asking()}
	if n := int(newSide) + len(p.options.Tallies); n <= len(x.few) {
		x.sides = x.few[:n]
	} else {
		x.sides = make([]side, n)
	}
	return x
}

// Respond hands in a system's response, of which a copy is kept. Only the first
// response of a system counts, and none once the exchange has timed out.
func (x *Exchange) Respond(from Side, r *compare.Response) {
	if x == nil {
		return
	}
	buffer, held := x.pool.take(len(r.Header) + len(r.Trailer) + len(r.Body))
	if buffer == nil {
		x.Fail(from, Shed)
		return
	}
	s := side{known: true, response: *r, buffer: buffer}
	rest := *buffer
	s.response.Header, rest = keep(rest, r.Header)
	s.response.Trailer, rest = keep(rest, r.Trailer)
	s.response.Body, rest = keep(rest, r.Body)
	*s.buffer = rest
	x.settle(from, s, held)
}

// Adopt is Respond for a body that is handed over with so many bytes that it takes
// of the pool's Memory. It is not for nil, whose bytes nobody would return.
func (x *Exchange) Adopt(from Side, r *compare.Response, held int64) {
	s := side{known: true, response: *r}
	fields := len(r.Header) + len(r.Trailer)
	if !x.pool.options.Memory.Take(int64(fields)) {
		x.pool.options.Memory.Return(held)
		x.Fail(from, Shed)
		return
	}
	rest := make([]byte, 0, fields)
	s.response.Header, rest = keep(rest, r.Header)
	s.response.Trailer, _ = keep(rest, r.Trailer)
	x.settle(from, s, held+int64(fields))
}

// Fail notes that a system has no response that could be compared, with the
// reason that is counted.
func (x *Exchange) Fail(from Side, reason string) {
	if x != nil {
		x.settle(from, side{known: true, reason: reason}, 0)
	}
}

func (x *Exchange) settle(from Side, s side, size int64) {
	if x.take(from, s, size) && x.pool.options.Patient {
		x.pool.compareHere(x)
	}
}

// take keeps the word of a system, and reports whether it was the last.
func (x *Exchange) take(from Side, s side, size int64) (last bool) {
	p := x.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.complete || x.sides[from].known {
		p.options.Memory.Return(size)
		s.release()
		return false
	}
	x.sides[from] = s
	x.held += size
	if x.lacking--; x.lacking > 0 {
		return false
	}
	x.complete = true
	p.waiting.remove(x)
	if !p.options.Patient {
		p.enqueue(x)
	}
	return true
}

// buffers hold responses and are used again, unless they are large.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 64 << 10

// take returns an empty buffer for size bytes and how many bytes are held for it:
// all that it has room for. It is nil if that is more than may be held.
func (p *Pool) take(size int) (buffer *[]byte, held int64) {
	buffer = buffers.Get().(*[]byte)
	*buffer = (*buffer)[:0]
	if cap(*buffer) >= size {
		if held = int64(cap(*buffer)); p.options.Memory.Take(held) {
			return buffer, held
		}
		if cap(*buffer) > 0 {
			buffers.Put(buffer)
			buffer = new([]byte)
		}
	}
	if !p.options.Memory.Take(int64(size)) {
		return nil, 0
	}
	*buffer = make([]byte, 0, size)
	return buffer, int64(size)
}

// release drops a response, since its exchange may be kept for long by its key.
func (s *side) release() {
	if s.buffer != nil && cap(*s.buffer) <= maxPooled {
		buffers.Put(s.buffer)
	}
	s.buffer, s.response = nil, compare.Response{}
}
