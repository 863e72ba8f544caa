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

// ReadBody reads the body to its end and keeps of it what max_body lets. Its
// error is that of the body. That memory is full is none: then the record is
// lost, and the body is read.
func (d *Draft) ReadBody(ctx context.Context, body io.Reader) error {
	for {
		if len(d.Body) == cap(d.Body) && !d.grow(ctx) {
			return d.skip(body)
		}
		n, err := body.Read(d.Body[len(d.Body):cap(d.Body)])
		d.Body = d.Body[:len(d.Body)+n]
		d.BodySize += uint64(n)
		if err != nil {
			return unlessEnd(err)
		}
	}
}

// grow makes room for more of the body, unless it is long enough.
func (d *Draft) grow(ctx context.Context) bool {
	have, most := int64(cap(d.Body)), d.recorder.options.MaxBody
	if int64(len(d.Body)) >= most || d.lost {
		return false
	}
	want := min(max(2*have, 4<<10), most)
	if want > freeBody {
		more := want - d.reserved
		if err := d.recorder.budget.grow(ctx, d, more); err != nil {
			d.lose(err)
			return false
		}
		d.reserved += more
	}
	larger := make([]byte, len(d.Body), want)
	copy(larger, d.Body)
	d.Body = larger
	return true
}

var scraps = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// skip reads what is not kept of the body.
func (d *Draft) skip(body io.Reader) error {
	scrap := scraps.Get().(*[32 << 10]byte)
	defer scraps.Put(scrap)
	for {
		n, err := body.Read(scrap[:])
		d.BodySize += uint64(n)
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

// BrokeOff notes in the record why its body did not arrive whole.
func (d *Draft) BrokeOff(err error) {
	d.Error = d.Text(fmt.Sprintf("after %d bytes of the body: %v", d.BodySize, err))
}
