// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/foreign"
)

// Decoder reads the records of an input, in whichever form it has them. The form
// is chosen by the content at the first record, as reading may wait.
type Decoder struct {
	r      io.Reader
	stream bool
	form   form
	skips  atomic.Pointer[foreign.Skips] // asked for from elsewhere
}

// form is the decoder of one form. A record is valid until the next call.
type form interface {
	Next() (*recording.Request, error)
}

// Decode returns the decoder for what r has. Of a stream no record is held back
// until another comes.
func Decode(r io.Reader, stream bool) *Decoder { return &Decoder{r: r, stream: stream} }

// Next returns the next record, io.EOF after the last. It is valid until the next
// call.
func (d *Decoder) Next() (*recording.Request, error) {
	if d.form == nil {
		d.form = d.choose(d.r, maxPacked)
		if f, ok := d.form.(foreign.Decoder); ok {
			d.skips.Store(f.Skipped())
		}
	}
	return d.form.Next()
}

// Skipped returns what could not be read so far, nil of a form that leaves nothing
// out. It may be asked from another goroutine.
func (d *Decoder) Skipped() *foreign.Skips { return d.skips.Load() }

// maxPacked is how many times an input may be packed in gzip.
const maxPacked = 2

var gzipStart = []byte{0x1f, 0x8b, 0x08}

// choose returns the decoder for what r has, packed or not: ours and adobe's
// recordings, which take all that is of no other form and refuse what is none
// with recording.ErrNotRecording.
func (d *Decoder) choose(r io.Reader, packed int) form {
	reader := recording.NewReader(r)
	content, err := reader.Uncompressed()
	if err != nil {
		return failing{err}
	}
	for n := 4; ; {
		_, err := content.Peek(n)
		head, _ := content.Peek(content.Buffered())
		if packed > 0 && bytes.HasPrefix(head, gzipStart) {
			unpacked, err := gzip.NewReader(content)
			if err != nil {
				return failing{err}
			}
			return d.choose(unpacked, packed-1)
		}
		format, sure := foreign.Recognize(head, err != nil)
		if format != nil {
			return format.New(content, d.stream)
		}
		if sure || err != nil {
			return reader
		}
		n = len(head) + 1
	}
}

// failing is the decoder of what cannot be read at all.
type failing struct{ err error }

func (f failing) Next() (*recording.Request, error) {
	if errors.Is(f.err, gzip.ErrHeader) {
		return nil, recording.ErrNotRecording
	}
	return nil, f.err
}

// Unfinished reports, after io.EOF, whether the recording has ended without its
// end mark, if its form has one.
func (d *Decoder) Unfinished() bool {
	marked, ok := d.form.(interface{ Unfinished() bool })
	return ok && marked.Unfinished()
}

// Offset returns how many uncompressed bytes have been read, 0 if that is not
// known.
func (d *Decoder) Offset() int64 {
	if counting, ok := d.form.(interface{ Offset() int64 }); ok {
		return counting.Offset()
	}
	return 0
}
