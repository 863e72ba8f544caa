// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Input is one recording, wherever it is kept.
type Input struct {
	// Name is what messages call it.
	Name string
	// Size is how many bytes it has, 0 if that is not known.
	Size int64
	// Stream means that it can be opened only once and that its reads may wait,
	// as those of a pipe do.
	Stream bool
	// Open opens it. Of a stream it may wait as well.
	Open func() (io.ReadCloser, error)
}

// Decoder reads the records of one format one by one, io.EOF after the last. A
// record is valid until the next call of Next.
type Decoder interface {
	Next() (*recording.Request, error)
}

// format is a format of recordings, known by how they begin.
type format struct {
	begins func(head []byte) bool
	decode func(io.Reader) Decoder
}

// headSize is how many bytes at most tell formats apart.
const headSize = 512

// formats are tried in this order. The last one takes all, and refuses what is
// no recording with recording.ErrNotRecording.
var formats = []format{
	{
		begins: func([]byte) bool { return true },
		decode: func(r io.Reader) Decoder { return recording.NewReader(r) }, // ours and adobe's, plain or LZ4
	},
}

// Decode returns the decoder for what r has.
func Decode(r io.Reader) Decoder { return &sniffing{r: r} }

// sniffing chooses its decoder at the first record, as reading may wait.
type sniffing struct {
	r io.Reader
	Decoder
}

func (s *sniffing) Next() (*recording.Request, error) {
	if s.Decoder == nil {
		s.Decoder = s.choose()
	}
	return s.Decoder.Next()
}

func (s *sniffing) choose() Decoder {
	if len(formats) == 1 {
		return formats[0].decode(s.r)
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(s.r, head)
	whole := io.MultiReader(bytes.NewReader(head[:n]), s.r)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		whole = io.MultiReader(bytes.NewReader(head[:n]), failing{err})
	}
	for _, f := range formats {
		if f.begins(head[:n]) {
			return f.decode(whole)
		}
	}
	return failing{recording.ErrNotRecording}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (f failing) Next() (*recording.Request, error) { return nil, f.err }

// Unfinished reports, after io.EOF, whether a decoder's recording has ended
// without its end mark, if its format has one.
func Unfinished(d Decoder) bool {
	if s, ok := d.(*sniffing); ok {
		d = s.Decoder
	}
	marked, ok := d.(interface{ Unfinished() bool })
	return ok && marked.Unfinished()
}

// Offset returns how many uncompressed bytes a decoder has read, 0 if it can't
// say.
func Offset(d Decoder) int64 {
	if s, ok := d.(*sniffing); ok {
		d = s.Decoder
	}
	if counting, ok := d.(interface{ Offset() int64 }); ok {
		return counting.Offset()
	}
	return 0
}

// file is an input that is being read.
type file struct {
	Input
	first   int64 // time of its first record, 0 if it has none or is a stream
	order   int   // among files of the same time
	highest int64 // the latest time that was read

	decoder Decoder // nil for a stream
	opened  io.Closer

	// Of a stream:
	ahead    chan *held    // what was read of it; closed after err is set
	err      error         // why there is no more
	patience time.Duration // how long others are held back for it
	stalled  bool          // it has given nothing for that long
}

// scan looks at the beginning of a recording. A file without records is nil and
// no error; one that begins with damage is an UnreadableError.
func scan(input Input, order int) (*file, error) {
	f := &file{Input: input, order: order}
	if err := f.open(nil); err != nil {
		return nil, err
	}
	defer f.close()
	record, err := f.decoder.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, &UnreadableError{f.Name, err}
	}
	f.first = record.TimeNS
	return f, nil
}

// open opens the recording, adding what is read of it to done.
func (f *file) open(done *atomic.Int64) error {
	opened, err := f.Open()
	if err != nil {
		return err
	}
	f.opened = opened
	f.decoder = Decode(counted{opened, done})
	f.highest = f.first
	return nil
}

func (f *file) close() {
	if f.opened != nil {
		f.opened.Close()
		f.opened, f.decoder = nil, nil
	}
}

// waits reports whether there is nothing to be had of a stream for the moment.
func (f *file) waits() bool { return f.stalled && len(f.ahead) == 0 }

const (
	// patience is how long records are held back for a stream that has given
	// some and now gives no others which might precede them. For its first one it
	// may take as long as what is sorted.
	patience = 100 * time.Millisecond
	// maxAhead is how many records a stream is read ahead.
	maxAhead = 4
)

// readAhead reads a stream in a goroutine of its own, which ends with it or ctx.
func (f *file) readAhead(ctx context.Context, spare <-chan *held) {
	f.ahead = make(chan *held, maxAhead)
	f.patience = sortWithin
	go func() {
		defer close(f.ahead)
		decoder := Decode(f.Reader(ctx))
		for {
			r, err := decoder.Next()
			if err != nil {
				f.err = err
				return
			}
			h := reuse(spare)
			h.Take(r)
			select {
			case f.ahead <- h:
			case <-ctx.Done():
				f.err = context.Canceled
				return
			}
		}
	}()
}

// reuse returns a copy that is no longer used, or a new one.
func reuse(spare <-chan *held) *held {
	select {
	case h := <-spare:
		return h
	default:
		return &held{streamed: true}
	}
}

// next returns the next record of a stream, nil if there is none for as long as
// patience lasts and the caller can do without.
func (f *file) next(ctx context.Context, patience time.Duration, needed bool) (*held, error) {
	var timeout <-chan time.Time
	if !needed && len(f.ahead) == 0 {
		timer := time.NewTimer(f.patience)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case h, ok := <-f.ahead:
		f.stalled, f.patience = false, patience
		if !ok {
			return nil, f.err
		}
		return h, nil
	case <-timeout:
		f.stalled = true
		return nil, nil
	case <-ctx.Done():
		return nil, context.Canceled
	}
}

// counted adds what is read to n, if there is one.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.n != nil {
		c.n.Add(int64(n))
	}
	return n, err
}

// Reader returns what a stream has to read. It is opened by the first read, and
// reads end with ctx, also where those of the stream would wait on, as they do
// at a terminal or a pipe. The goroutine that reads ahead ends with the stream
// or at the first chunk after the end of ctx.
func (i Input) Reader(ctx context.Context) io.Reader {
	chunks := make(chan chunk)
	go func() {
		r, err := i.Open()
		if err == nil {
			defer r.Close()
		}
		for {
			var c chunk
			if c.err = err; err == nil {
				c.data = make([]byte, 64<<10)
				n, errRead := r.Read(c.data)
				err = errRead
				c = chunk{c.data[:n], err}
			}
			select {
			case chunks <- c:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &stream{ctx: ctx, chunks: chunks}
}

type chunk struct {
	data []byte
	err  error
}

// stream takes what is read ahead.
type stream struct {
	ctx    context.Context
	chunks <-chan chunk
	rest   chunk
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest.data) == 0 {
		if s.rest.err != nil {
			return 0, s.rest.err
		}
		select {
		case s.rest = <-s.chunks:
		case <-s.ctx.Done():
			return 0, context.Canceled
		}
	}
	n := copy(p, s.rest.data)
	s.rest.data = s.rest.data[n:]
	return n, nil
}
