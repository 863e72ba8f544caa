// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"runtime"
	"sync"
)

// mostLanes bounds how many batches are compressed at the same time.
const mostLanes = 4

// writer takes batches from the queue to the disk.
type writer struct {
	recorder *Recorder
	files    *files
	lanes    []*lane
}

func newWriter(r *Recorder) *writer {
	w := &writer{recorder: r, files: &files{options: &r.options, troubles: r.troubles, create: r.create}}
	for range max(1, min(runtime.GOMAXPROCS(0)/2, mostLanes)) {
		w.lanes = append(w.lanes, newLane(r.options.Compression))
	}
	return w
}

// finish writes all that was added and ends the file.
func (w *writer) finish() {
	w.recorder.seal()
	w.drain()
	w.files.finish()
}

// drain writes all batches that wait.
func (w *writer) drain() {
	defer w.recorder.writing.Store(0)
	for filled := w.load(); len(filled) > 0; filled = w.load() {
		w.recorder.writing.Store(filled[0].batch.since.UnixNano())
		var others sync.WaitGroup
		for _, l := range filled[1:] {
			others.Go(l.compress)
		}
		filled[0].compress()
		others.Wait()
		for _, l := range filled {
			w.write(l)
		}
	}
}

// load puts waiting batches on the lanes.
func (w *writer) load() []*lane {
	for i, l := range w.lanes {
		if l.batch = w.recorder.queue.pop(); l.batch == nil {
			return w.lanes[:i]
		}
	}
	return w.lanes
}

// write puts a compressed batch on disk and gives its memory back.
func (w *writer) write(l *lane) {
	r, b := w.recorder, l.batch
	defer r.recycle(b)
	defer func() {
		if p := recover(); p != nil {
			r.troubles.failed(WriteFile, fmt.Errorf("panic: %v", p), NotWritten, b.count)
			w.files.abandon()
		}
	}()
	if l.err != nil {
		r.troubles.failed(WriteFile, l.err, NotWritten, b.count)
		return
	}
	if w.files.append(l.frame, b.count) {
		r.troubles.observer.Recorded(b.count, int64(len(b.records)), int64(len(l.frame)))
	}
}

// recycle frees the memory of a batch.
func (r *Recorder) recycle(b *batch) {
	size := int64(len(b.records))
	r.reuse(b)
	r.queue.unwritten.Add(-1)
	r.budget.queued.Add(-size)
	r.budget.release(size)
}

// reuse keeps the memory of a batch for another.
func (r *Recorder) reuse(b *batch) {
	if cap(b.records) == r.batchSize {
		*b = batch{records: b.records[:0]}
		r.batches.Put(b)
	}
}
