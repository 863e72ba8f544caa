// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

// Copy is a record in memory of its own, which the next one reuses.
type Copy struct {
	Request
	response Response // of the request, if it has one
	memory   []byte
}

// maxCopyKept is the memory beyond which a copy doesn't keep it for another
// record.
const maxCopyKept = 256 << 10

// Take copies a record, with its response if it has one.
func (c *Copy) Take(r *Request) {
	c.Request = Request{TimeNS: r.TimeNS, BodySize: r.BodySize}
	response := r.Response
	if response != nil {
		c.Request.Response = &c.response
	} else {
		response = new(Response)
	}
	c.response = Response{Status: response.Status, BodySize: response.BodySize, DurationNS: response.DurationNS}
	memory := c.memory[:0]
	if cap(memory) > maxCopyKept {
		memory = nil
	}
	size := 0
	parts := [...]struct {
		to   *[]byte
		from []byte
	}{
		{&c.ID, r.ID},
		{&c.Method, r.Method},
		{&c.URI, r.URI},
		{&c.Headers, r.Headers},
		{&c.Body, r.Body},
		{&c.Scheme, r.Scheme},
		{&c.Host, r.Host},
		{&c.Proto, r.Proto},
		{&c.Remote, r.Remote},
		{&c.Trailers, r.Trailers},
		{&c.Error, r.Error},
		{&c.response.Headers, response.Headers},
		{&c.response.Body, response.Body},
		{&c.response.Trailers, response.Trailers},
		{&c.response.Error, response.Error},
	}
	for _, part := range parts {
		size += len(part.from)
	}
	if cap(memory) < size {
		memory = make([]byte, 0, size)
	}
	for _, part := range parts {
		if part.from == nil {
			continue
		}
		at := len(memory)
		memory = append(memory, part.from...)
		*part.to = memory[at:len(memory):len(memory)]
	}
	c.memory = memory
}

// Size returns how many bytes were copied.
func (c *Copy) Size() int { return len(c.memory) }
