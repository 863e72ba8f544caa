// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Input is one recording, wherever it is kept.
type Input struct {
	// Name is what messages call it.
	Name string
	// Size is how many bytes it has, 0 if that is not known.
	Size int64
	// Begins is about when its first record is, in nanoseconds since 1970, if that
	// is known before it is opened; else 0, and its beginning is looked at.
	Begins int64
	// Stream means that it can be opened only once and that its reads may wait,
	// as those of a pipe do.
	Stream bool
	// Open opens it. Of a stream it may wait as well.
	Open func() (io.ReadCloser, error)
}

// file is an input that is being read.
type file struct {
	Input
	first   int64 // time of its first record, 0 if it has none or is a stream
	order   int   // among files of the same time
	highest int64 // the latest time that was read

	decoder *Decoder
	opened  io.Closer

	// Of a stream:
	ahead    chan *held    // what was read of it; closed after err is set
	err      error         // why there is no more
	patience time.Duration // how long others are held back for it
	stalled  bool          // it has given nothing for that long
}

// scan looks at the beginning of a recording. A file without records is nil and
// no error; one that begins with damage is an UnreadableError.
func scan(input Input, order int, notes func(error)) (*file, error) {
	f := &file{Input: input, order: order}
	if err := f.open(nil); err != nil {
		return nil, err
	}
	defer f.close()
	record, err := f.decoder.Next()
	switch {
	case errors.Is(err, io.EOF):
		f.noteSkipped(notes, true)
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
	f.decoder = Decode(counted{opened, done}, false)
	f.highest = f.first
	return nil
}

func (f *file) close() {
	if f.opened != nil {
		f.opened.Close()
		f.opened, f.decoder = nil, nil
	}
}

// noteSkipped notes what has been left out since the last call, and at the end
// how much that is in all.
func (f *file) noteSkipped(notes func(error), end bool) {
	if f.decoder == nil {
		return
	}
	skipped := f.decoder.Skipped()
	if skipped == nil {
		return
	}
	for _, err := range skipped.New() {
		notes(fmt.Errorf("%s: %w", f.Name, err))
	}
	if err := skipped.Summary(); end && err != nil {
		notes(fmt.Errorf("%s: %w", f.Name, err))
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
	f.decoder = Decode(f.Reader(ctx), true)
	go func() {
		defer close(f.ahead)
		defer func() {
			if value := recover(); value != nil {
				f.err = fmt.Errorf("a fault of Rehearsal, please report it: %v\n%s", value, debug.Stack())
			}
		}()
		decoder := f.decoder
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
