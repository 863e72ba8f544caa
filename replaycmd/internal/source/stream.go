// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io"
)

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
				data := make([]byte, 64<<10)
				n := 0
				n, err = r.Read(data)
				c = chunk{data[:n], err}
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
