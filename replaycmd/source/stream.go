// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io"
)

// Interruptible gives a reader whose reads end with ctx, also where those of r
// would wait on, as they do at a terminal or a pipe. The goroutine that reads
// ahead ends with r or at the first chunk after the end of ctx.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	chunks := make(chan chunk)
	go func() {
		defer close(chunks)
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
	return &interruptible{ctx: ctx, chunks: chunks}
}

type chunk struct {
	data []byte
	err  error
}

type interruptible struct {
	ctx    context.Context
	chunks <-chan chunk
	rest   chunk
}

func (i *interruptible) Read(p []byte) (int, error) {
	for len(i.rest.data) == 0 {
		if i.rest.err != nil {
			return 0, i.rest.err
		}
		select {
		case next, more := <-i.chunks:
			if !more {
				return 0, io.EOF
			}
			i.rest = next
		case <-i.ctx.Done():
			return 0, context.Canceled
		}
	}
	n := copy(p, i.rest.data)
	i.rest.data = i.rest.data[n:]
	return n, nil
}
