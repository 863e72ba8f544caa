// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io"
	"os"
)

// IsStream says whether a name stands for what can be read only once: standard
// input, a pipe or whatever else is no regular file.
func IsStream(name string) bool {
	if name == Stdin {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// OpenStream gives what a stream has to read. Reads end with ctx, also where
// those of the stream would wait on, as they do at a terminal or a pipe. The
// goroutine that reads ahead ends with the stream or at the first chunk after
// the end of ctx.
func OpenStream(ctx context.Context, name string, stdin io.Reader) io.Reader {
	if name == Stdin {
		return readAhead(ctx, stdin)
	}
	return readAhead(ctx, &pipe{name: name})
}

// pipe is opened by its first read, as opening may wait for a writer.
type pipe struct {
	name string
	file *os.File
}

func (p *pipe) Read(b []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.Open(p.name); err != nil {
			return 0, err
		}
	}
	if n, err = p.file.Read(b); err != nil {
		p.file.Close()
	}
	return n, err
}

func readAhead(ctx context.Context, r io.Reader) io.Reader {
	chunks := make(chan chunk)
	go func() {
		for {
			data := make([]byte, 64<<10)
			n, err := r.Read(data)
			select {
			case chunks <- chunk{data[:n], err}:
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
