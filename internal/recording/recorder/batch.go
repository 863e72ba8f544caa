// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pierrec/lz4/v4"
)

// largestBatch is the memory of a batch. Larger records get one of their own.
const largestBatch = 256 << 10

// batch is a row of records on its way to the disk.
type batch struct {
	records []byte
	count   int
	since   time.Time // when its first record was added
}

// lane compresses batches, one at a time.
type lane struct {
	writer  *lz4.Writer // nil: nothing is compressed
	sparing bool        // does not compress what hardly shrinks
	stored  int         // batches to be stored before one is compressed again
	memory  bytes.Buffer
	batch   *batch
	frame   []byte // of the batch, once it is compressed
	err     error
}

func newLane(c Compression) *lane {
	l := &lane{}
	if !c.none {
		l.writer = c.newWriter()
		l.sparing = c.level == 0
	}
	return l
}

// compress makes a frame of the batch.
func (l *lane) compress() {
	defer func() {
		if p := recover(); p != nil {
			l.err = fmt.Errorf("compressing: %v", p)
		}
	}()
	l.frame, l.err = l.batch.records, nil
	if l.writer == nil {
		return
	}
	if l.memory.Cap() > 4*largestBatch { // what a large record took is not kept
		l.memory = bytes.Buffer{}
	}
	l.memory.Reset()
	if records := l.batch.records; l.stored > 0 && len(records) <= largestBatch {
		l.stored--
		writeStored(&l.memory, records)
	} else {
		l.err = l.shrink(records)
	}
	l.frame = l.memory.Bytes()
}

// shrink compresses records and remembers for the next whether that was worth it.
func (l *lane) shrink(records []byte) error {
	l.writer.Reset(&l.memory)
	if _, err := l.writer.Write(records); err != nil {
		return err
	}
	if err := l.writer.Close(); err != nil {
		return err
	}
	if l.sparing && !shrinks(len(records), l.memory.Len()) {
		l.stored = storedRow
	}
	return nil
}
