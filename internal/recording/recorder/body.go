// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// freeBody is how much of a body is kept before memory is asked for it, and
// the largest memory that the next draft inherits.
const freeBody = 64 << 10

// ReadBody reads the request's body to its end and keeps of it what max_body
// lets. Its error is that of the body. That memory is full is none: then the
// record is lost, and the body is read.
func (d *Draft) ReadBody(ctx context.Context, body io.Reader) error {
	return d.read(ctx, &d.Body, &d.BodySize, body)
}

// WriteBody adds a part of the request's body. Of it the draft keeps what
// max_body lets, and counts the rest. If memory is full it waits, as long as ctx
// lets it, or the record is lost.
func (d *Draft) WriteBody(ctx context.Context, part []byte) {
	d.write(ctx, &d.Body, &d.BodySize, part)
}

// ReadResponse reads the response's body like ReadBody.
func (d *Draft) ReadResponse(ctx context.Context, body io.Reader) error {
	return d.read(ctx, &d.response.Body, &d.response.BodySize, body)
}

// WriteResponse adds a part of the response's body like WriteBody.
func (d *Draft) WriteResponse(ctx context.Context, part []byte) {
	d.write(ctx, &d.response.Body, &d.response.BodySize, part)
}

func (d *Draft) read(ctx context.Context, kept *[]byte, size *uint64, body io.Reader) error {
	for {
		if len(*kept) == cap(*kept) && !d.grow(ctx, kept) {
			return skip(size, body)
		}
		n, err := body.Read((*kept)[len(*kept):cap(*kept)])
		*kept = (*kept)[:len(*kept)+n]
		*size += uint64(n)
		if err != nil {
			return unlessEnd(err)
		}
	}
}

func (d *Draft) write(ctx context.Context, kept *[]byte, size *uint64, part []byte) {
	*size += uint64(len(part))
	for len(part) > 0 && (len(*kept) < cap(*kept) || d.grow(ctx, kept)) {
		n := min(len(part), cap(*kept)-len(*kept))
		*kept = append(*kept, part[:n]...)
		part = part[n:]
	}
}

// grow gets memory for more of a body and reports whether there is any: not
// once the body has its most, and not for a record that is lost.
func (d *Draft) grow(ctx context.Context, kept *[]byte) bool {
	have, most := int64(cap(*kept)), int64(d.recorder.options.MaxBody)
	if int64(len(*kept)) >= most || d.lost {
		return false
	}
	return d.reserveBody(ctx, kept, min(max(2*have, 4<<10), most))
}

// reserveBody gets memory for want bytes of a body and reports whether there is
// any.
func (d *Draft) reserveBody(ctx context.Context, kept *[]byte, want int64) bool {
	if more := reserved(want) - reserved(int64(cap(*kept))); more > 0 {
		if err := d.recorder.budget.grow(ctx, d, more); err != nil {
			d.lose(err)
			return false
		}
		d.reserved += more
	}
	larger := make([]byte, len(*kept), want)
	copy(larger, *kept)
	*kept = larger
	return true
}

// reserved returns how much of a body's memory counts.
func reserved(size int64) int64 {
	if size <= freeBody {
		return 0
	}
	return size
}

var scraps = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// skip reads what is not kept of a body.
func skip(size *uint64, body io.Reader) error {
	scrap := scraps.Get().(*[32 << 10]byte)
	defer scraps.Put(scrap)
	for {
		n, err := body.Read(scrap[:])
		*size += uint64(n)
		if err != nil {
			return unlessEnd(err)
		}
	}
}

func unlessEnd(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// BrokeOff notes in the record why the request's body did not arrive whole.
func (d *Draft) BrokeOff(err error) { d.Error = d.brokeOff(d.BodySize, err) }

// ResponseBrokeOff notes in the record why the response's body did not arrive
// whole.
func (d *Draft) ResponseBrokeOff(err error) {
	d.response.Error = d.brokeOff(d.response.BodySize, err)
}

// NoResponse notes in the record why nothing of a response was seen.
func (d *Draft) NoResponse(why string) { d.response.Error = d.Text(why) }

func (d *Draft) brokeOff(size uint64, err error) []byte {
	return d.Text(fmt.Sprintf("after %d bytes of the body: %v", size, err))
}
