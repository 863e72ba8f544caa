// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recording is the file format of recorded requests: what a record
// holds, the encoder and the reader.
//
// A recording is a row of records, as it is or within LZ4 frames. A record is
// its length (8 bytes, little-endian) and one FlatBuffer, described in
// recording.fbs. The table starts with the five fields of adobe/blackhole, so
// that either tool reads what the other has recorded.
package recording

import (
	"bytes"
	"iter"
)

//go:generate sh -c "flatc --go -o . recording.fbs && gofmt -w fb"

// Request is one recorded request. All its bytes are as they were on the wire,
// never re-encoded.
//
// The byte slices of a Request that a Reader returns alias the Reader's
// memory: they are valid until the next call of Next.
type Request struct {
	ID     []byte
	Method []byte

	// URI is the raw request target.
	URI []byte

	// Headers has one "Name: value" line for each field, ended by CR LF, Host
	// first. EachField takes it apart.
	Headers []byte

	Body []byte

	// TimeNS is when the request arrived, in nanoseconds since 1970, or 0 if
	// that is not known.
	TimeNS int64

	Scheme []byte // http or https
	Host   []byte
	Proto  []byte // HTTP/1.1
	Remote []byte // address and port of the client

	// BodySize is how many bytes of body the client sent. 0 with a body means
	// that the recording does not say.
	BodySize uint64

	// Trailers has lines like Headers.
	Trailers []byte

	// Response is the response to the request, or nil if only the
	// request was recorded.
	Response *Response

	// Error is why the request did not arrive whole, for example because its
	// client broke off. It is empty for a whole request.
	Error []byte
}

// Response is the recorded response to a request.
type Response struct {
	Status   int
	Headers  []byte // lines like those of Request
	Body     []byte
	BodySize uint64 // what was sent; more than the body if that was cut
	Trailers []byte

	// DurationNS is the time in nanoseconds from the arrival of the request to
	// the end of the response.
	DurationNS int64

	// Error is why there is no whole response. It is empty for a whole one.
	Error []byte
}

// Truncated reports whether the record has less of the body than the client sent.
func (r *Request) Truncated() bool { return r.BodySize > uint64(len(r.Body)) }

// Truncated reports whether the record has less of the body than was sent.
func (r *Response) Truncated() bool { return r.BodySize > uint64(len(r.Body)) }

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

// CopyField is the field by which a tee marks the requests that it copies, with
// its name. Replay leaves it out: a tee of the same name before a target would
// take what is replayed for copies of its own.
const CopyField = "X-Rehearsal-Copy"

// emptyLine ends the header fields of a stored record, as adobe/blackhole has it
// and its assembly of a request needs it. A Request and a Response are without.
var emptyLine = []byte("\r\n")

// withoutEmptyLine returns header fields without the line that ends them. Those
// that were recorded before version 0.2 have none.
func withoutEmptyLine(lines []byte) []byte {
	fields, ok := bytes.CutSuffix(lines, emptyLine)
	switch {
	case !ok || len(fields) > 0 && fields[len(fields)-1] != '\n':
		return lines
	case len(fields) == 0:
		return nil
	}
	return fields
}

// EachField yields name and value of "Name: value" lines in their order. Empty
// lines are passed over.
func EachField(lines []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for line := range bytes.Lines(lines) {
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			if !yield(name, bytes.TrimLeft(value, " \t")) {
				return
			}
		}
	}
}
