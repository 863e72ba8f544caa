// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// file is one recording.
type file struct {
	name  string
	size  int64
	first int64 // time of its first record, 0 if it has none or is a stream
	order int   // among files of the same time

	*recording.Reader
	opened  io.Closer
	highest int64 // the latest time that was read
}

// scan looks at the beginning of a recording. A file without records gives nil
// and no error; one that begins with damage gives an UnreadableError.
func scan(name string, order int) (*file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, order: order, size: info.Size()}
	if err := f.open(nil); err != nil {
		return nil, err
	}
	defer f.close()
	record, err := f.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, &UnreadableError{name, err}
	}
	f.first = record.TimeNS
	return f, nil
}

// open opens the recording, adding what is read of it to done.
func (f *file) open(done *atomic.Int64) error {
	opened, err := os.Open(f.name)
	if err != nil {
		return err
	}
	f.opened = opened
	f.Reader = recording.NewReader(counted{opened, done})
	f.highest = f.first
	return nil
}

func (f *file) close() {
	if f.opened != nil {
		f.opened.Close()
		f.opened, f.Reader = nil, nil
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
