// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

const (
	// tidyEvery is how often the directory is looked after.
	tidyEvery = time.Minute

	// flushSteps is how often in flush_every it is looked whether a batch has
	// become so old that it would be too old the next time.
	flushSteps = 8

	// endEvery is how often a recorder that was closed looks whether it may end.
	// Requests that come late, one by one, get a file together.
	endEvery = time.Second
)

// run writes what is added until the recorder is closed and nobody uses it. It
// begins when the one before it has finished.
func (r *Recorder) run(before <-chan struct{}, finished chan<- struct{}) {
	<-before
	defer close(finished)
	for !r.work() {
		time.Sleep(time.Second) // after a panic
	}
}

// work does what run is for. It is over when it returns true.
func (r *Recorder) work() (over bool) {
	w := newWriter(r)
	defer func() {
		if p := recover(); p != nil {
			r.troubles.failed(WriteFile, fmt.Errorf("panic: %v", p), "", 0)
			w.files.abandon()
		}
	}()
	w.files.tidy(time.Now())
	tidied, looked := time.Now(), time.Now()
	tick := time.NewTicker(max(time.Millisecond, min(time.Duration(r.options.FlushEvery)/flushSteps, time.Duration(r.options.RotateEvery/2), endEvery)))
	defer tick.Stop()
	for {
		w.drain()
		select {
		case <-r.queue.wake:
		case done := <-r.finish:
			last := r.mayEnd()
			w.finish()
			r.troubles.report(true)
			close(done)
			if last {
				return true
			}
		case now := <-tick.C:
			r.flushOlder(now.Add(-time.Duration(r.options.FlushEvery) * (flushSteps - 1) / flushSteps))
			if now.Sub(tidied) >= tidyEvery {
				w.files.tidy(now)
				r.troubles.report(false)
				tidied = now
			}
			w.files.retire(now)
			if now.Sub(looked) >= endEvery {
				looked = now
				if r.closing.Load() && r.mayEnd() {
					w.finish() // what was added by the last to leave
					r.troubles.report(true)
					return true
				}
			}
		}
	}
}

// maxLanes bounds how many batches are compressed at the same time.
const maxLanes = 4

// writer takes batches from the queue to the disk.
type writer struct {
	recorder *Recorder
	files    *files
	lanes    []*lane
}

func newWriter(r *Recorder) *writer {
	w := &writer{recorder: r, files: &files{options: &r.options, troubles: r.troubles, create: r.create, strange: make(map[string]bool)}}
	for range max(1, min(runtime.GOMAXPROCS(0)/2, maxLanes)) {
		w.lanes = append(w.lanes, newLane(r.options.Compression))
	}
	return w
}

// finish writes all that was added and ends the file.
func (w *writer) finish() {
	w.recorder.flush()
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

// write puts a compressed batch on disk and releases its memory.
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
	if disk, ok := w.files.append(l.blocks, b); ok {
		r.troubles.observer.Recorded(b.count, int64(len(b.records)), disk)
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
