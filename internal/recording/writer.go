// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// Writer writes a recording record by record, plain or as one LZ4 frame. It is
// for converting: what records while it serves is package recorder.
type Writer struct {
	w        io.Writer
	encoder  Encoder
	records  []byte // that are not written yet
	blocks   []byte
	compress func(src, dst []byte) (int, error) // nil: plain
	content  frame.Hash
	begun    bool
}

// NewWriter returns a writer of a recording to w.
func NewWriter(w io.Writer, compressed bool) *Writer {
	writer := &Writer{w: w}
	if compressed {
		writer.compress = new(lz4.CompressorCCompat).CompressBlock
	}
	return writer
}

// Write adds a record. One that is larger than any can be is an error.
func (w *Writer) Write(r *Request) error {
	if size := Size(r); size > MaxRecord {
		return fmt.Errorf("a record of %d bytes is larger than any can be", size)
	}
	w.records = w.encoder.Append(w.records, r)
	if len(w.records) < frame.BlockSize {
		return nil
	}
	return w.flush()
}

// flush writes what has been added.
func (w *Writer) flush() error {
	out := w.records
	if w.compress != nil {
		w.content.Add(w.records)
		w.blocks = w.blocks[:0]
		if !w.begun {
			w.blocks = append(w.blocks, frame.Header...)
		}
		for rest := w.records; len(rest) > 0; {
			n := min(len(rest), frame.BlockSize)
			w.blocks = frame.AppendBlock(w.blocks, rest[:n], w.compress)
			rest = rest[n:]
		}
		out = w.blocks
	}
	w.begun = true
	_, err := w.w.Write(out)
	w.records = w.records[:0]
	if cap(w.records) > maxKept {
		w.records, w.blocks = nil, nil
	}
	return err
}

// Close writes what is left and the end of the frame.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil || w.compress == nil {
		return err
	}
	_, err := w.w.Write(frame.AppendEnd(nil, &w.content))
	return err
}
