// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// readTries is how often in a row an object is asked for without a byte of it
	// coming, with pauses that grow from the first to the longest between.
	readTries        = 8
	firstReadPause   = 200 * time.Millisecond
	longestReadPause = 10 * time.Second
)

// Reader returns the content of an object that has some size. It is asked for by
// the first read, and again from where it was whenever the connection breaks.
func (b *Bucket) Reader(ctx context.Context, key string, size int64) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	return &reader{bucket: b, key: key, size: size, ctx: ctx, cancel: cancel}
}

// reader reads an object, over as many connections as that takes.
type reader struct {
	bucket *Bucket
	key    string
	size   int64
	ctx    context.Context
	cancel context.CancelFunc

	at      int64
	changed time.Time // when the object was last written
	failed  int       // times in a row
	part    *blob.Reader
	watch   *watch // of the part
}

// Read reads on.
func (r *reader) Read(p []byte) (int, error) {
	for {
		if r.at >= r.size {
			return 0, io.EOF
		}
		n, err := r.read(p)
		r.at += int64(n)
		if n > 0 {
			r.failed = 0
		}
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, io.EOF) && r.at >= r.size:
			return n, nil // the next read ends
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF
		}
		r.closePart()
		if err := r.again(err); err != nil {
			return n, failure{"reading", err}
		}
		if n > 0 {
			return n, nil
		}
	}
}

// read reads of the connection that there is, or of a new one.
func (r *reader) read(p []byte) (int, error) {
	if r.part == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	r.watch.moved()
	n, err := r.part.Read(p)
	if !errors.Is(err, io.EOF) {
		err = r.watch.cause(err)
	}
	return n, err
}

var errChanged = errors.New("the object was changed while it was read")

func (r *reader) open() error {
	ctx, watch := watched(r.ctx)
	part, err := r.bucket.bucket.NewRangeReader(ctx, r.key, r.at, -1, nil)
	if err != nil {
		watch.stop()
		return watch.cause(err)
	}
	if part.Size() != r.size || !r.changed.IsZero() && !part.ModTime().Equal(r.changed) {
		watch.stop()
		part.Close()
		return errChanged
	}
	r.part, r.watch, r.changed = part, watch, part.ModTime()
	return nil
}

// again waits before the object is asked for again after an error, and returns
// why it is not.
func (r *reader) again(err error) error {
	if r.ctx.Err() != nil {
		return context.Canceled
	}
	code := gcerrors.Code(err)
	if code == gcerrors.NotFound || code == gcerrors.PermissionDenied || errors.Is(err, errChanged) || r.at >= r.size {
		return err
	}
	if r.failed++; r.failed >= readTries {
		return fmt.Errorf("at byte %d, tried %d times: %w", r.at, r.failed, err)
	}
	pause := time.NewTimer(min(firstReadPause<<(r.failed-1), longestReadPause))
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-r.ctx.Done():
		return context.Canceled
	}
}

func (r *reader) closePart() {
	if r.part != nil {
		r.watch.stop()
		r.part.Close()
		r.part = nil
	}
}

// Close ends reading.
func (r *reader) Close() error {
	r.closePart()
	r.cancel()
	return nil
}
