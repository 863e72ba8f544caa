// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/binary"
	"math"
)

const (
	prefixSize = 8 // the length before each record
	rootSize   = 4 // the offset that a FlatBuffer starts with

	// MaxRecord is the largest record in bytes: what a Reader takes for a length
	// and not for damage.
	MaxRecord = 1 << 30
)

// Encoder turns requests into records. It writes forward into memory that it
// is given and allocates none of its own.
type Encoder struct {
	dst   []byte
	start int // of the FlatBuffer within dst
}

// Append adds the record of r to dst: its length and its FlatBuffer.
func (e *Encoder) Append(dst []byte, r *Request) []byte {
	e.dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	e.start = len(e.dst)
	e.dst = append(e.dst, 0, 0, 0, 0)
	t := e.table(&requestLayout)
	binary.LittleEndian.PutUint32(e.dst[e.start:], uint32(t.at-e.start))

	// The first five are there even if empty: adobe/blackhole always writes them.
	e.write(t, requestID, r.ID)
	e.write(t, requestMethod, r.Method)
	e.write(t, requestURI, r.URI)
	e.write(t, requestHeaders, r.Headers, emptyLine...)
	e.write(t, requestBody, r.Body)
	e.number(t, requestTime, uint64(r.TimeNS))
	e.number(t, requestBodySize, r.BodySize)
	e.text(t, requestScheme, r.Scheme)
	e.text(t, requestHost, r.Host)
	e.text(t, requestProto, r.Proto)
	e.text(t, requestRemote, r.Remote)
	e.text(t, requestTrailers, r.Trailers)
	e.text(t, requestError, r.Error)
	if r.Response != nil {
		e.response(t, r.Response)
	}
	binary.LittleEndian.PutUint64(e.dst[e.start-prefixSize:], uint64(len(e.dst)-e.start))

	dst = e.dst
	e.dst = nil
	return dst
}

func (e *Encoder) response(request table, r *Response) {
	t := e.table(&responseLayout)
	e.point(request, requestResponse, t.at)
	if r.Status > 0 && r.Status <= math.MaxUint16 {
		binary.LittleEndian.PutUint16(e.dst[e.field(t, responseStatus):], uint16(r.Status))
	}
	if len(r.Headers) > 0 {
		e.write(t, responseHeaders, r.Headers, emptyLine...)
	}
	e.text(t, responseBody, r.Body)
	e.number(t, responseBodySize, r.BodySize)
	e.text(t, responseTrailers, r.Trailers)
	e.number(t, responseDuration, uint64(r.DurationNS))
	e.text(t, responseError, r.Error)
}

// table is where a table lies in dst.
type table struct {
	vtable, at int
	layout     *layout
}

// table starts a table without any field.
func (e *Encoder) table(l *layout) table {
	e.dst = append(e.dst, "\x00\x00\x00\x00\x00\x00\x00"[:l.padding(len(e.dst)-e.start)]...)
	vtable := l.vtable()
	t := table{vtable: len(e.dst), at: len(e.dst) + vtable, layout: l}
	for range (vtable + int(l.size)) / 4 {
		e.dst = append(e.dst, 0, 0, 0, 0)
	}
	binary.LittleEndian.PutUint16(e.dst[t.vtable:], uint16(4+2*len(l.slots)))
	binary.LittleEndian.PutUint16(e.dst[t.vtable+2:], l.size)
	binary.LittleEndian.PutUint32(e.dst[t.at:], uint32(t.at-t.vtable))
	return t
}

// field enters a field into the vtable and returns its place in dst.
func (e *Encoder) field(t table, slot int) int {
	offset := t.layout.slots[slot]
	binary.LittleEndian.PutUint16(e.dst[t.vtable+4+2*slot:], offset)
	return t.at + int(offset)
}

func (e *Encoder) number(t table, slot int, n uint64) {
	if n != 0 {
		binary.LittleEndian.PutUint64(e.dst[e.field(t, slot):], n)
	}
}

// point makes a field refer to what lies at target.
func (e *Encoder) point(t table, slot, target int) {
	at := e.field(t, slot)
	binary.LittleEndian.PutUint32(e.dst[at:], uint32(target-at))
}

func (e *Encoder) text(t table, slot int, data []byte) {
	if len(data) > 0 {
		e.write(t, slot, data)
	}
}

// write adds a string or a vector of bytes, perhaps with an end of it besides:
// length, bytes and, as strings need it, a zero byte.
func (e *Encoder) write(t table, slot int, data []byte, end ...byte) {
	e.point(t, slot, len(e.dst))
	size := len(data) + len(end)
	e.dst = binary.LittleEndian.AppendUint32(e.dst, uint32(size))
	e.dst = append(e.dst, data...)
	e.dst = append(e.dst, end...)
	e.dst = append(e.dst, "\x00\x00\x00\x00"[:4-size%4]...)
}

// Size returns the number of bytes that Append adds for r.
func Size(r *Request) int {
	n := requestLayout.end(rootSize)
	for _, data := range [...][]byte{r.ID, r.Method, r.URI, r.Body} {
		n += vectorSize(len(data))
	}
	n += vectorSize(len(r.Headers) + len(emptyLine))
	for _, data := range [...][]byte{r.Scheme, r.Host, r.Proto, r.Remote, r.Trailers, r.Error} {
		n += textSize(len(data))
	}
	if r.Response != nil {
		n = responseLayout.end(n)
		if len(r.Response.Headers) > 0 {
			n += vectorSize(len(r.Response.Headers) + len(emptyLine))
		}
		for _, data := range [...][]byte{r.Response.Body, r.Response.Trailers, r.Response.Error} {
			n += textSize(len(data))
		}
	}
	return prefixSize + n
}

func vectorSize(size int) int { return 4 + size + 4 - size%4 }

func textSize(size int) int {
	if size == 0 {
		return 0
	}
	return vectorSize(size)
}

// layout is where the fields of a table lie within it, by their order in
// recording.fbs. Every record has the same layout, with a field that is not
// there left out of the table's vtable; 8-byte fields lie at 4 + 8n because a
// table starts 4 bytes after a multiple of 8.
type layout struct {
	size  uint16
	slots []uint16
}

// vtable returns the size of the vtable, which comes right before the table.
func (l *layout) vtable() int { return (4 + 2*len(l.slots) + 3) &^ 3 }

// padding returns how many bytes the vtable is put off if so many of the FlatBuffer
// come before.
func (l *layout) padding(before int) int { return (4 - before - l.vtable()) & 7 }

// end returns where a table ends if so many bytes of the FlatBuffer come before
// it.
func (l *layout) end(before int) int {
	return before + l.padding(before) + l.vtable() + int(l.size)
}

const (
	requestID = iota
	requestMethod
	requestURI
	requestHeaders
	requestBody
	requestTime
	requestScheme
	requestHost
	requestProto
	requestRemote
	requestBodySize
	requestTrailers
	requestResponse
	requestError
)

const (
	responseStatus = iota
	responseHeaders
	responseBody
	responseBodySize
	responseTrailers
	responseDuration
	responseError
)

var (
	requestLayout  = layout{size: 68, slots: []uint16{4, 8, 12, 16, 20, 52, 24, 28, 32, 36, 60, 40, 44, 48}}
	responseLayout = layout{size: 44, slots: []uint16{20, 4, 8, 28, 12, 36, 16}}
)
