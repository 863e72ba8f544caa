// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package recorder writes recordings to rotating files.
//
// A request fills a Draft and adds it. Adding encodes the record into a batch
// in memory and returns; one goroutine has the batches compressed, some at the
// same time and each into blocks of its own, and appends them to the file, which
// can be read up to there, whatever happens next.
//
// A file ends in .tmp and is locked while it is written, and is renamed when its
// end is. What a crash leaves behind is repaired and renamed by the next
// recorder that is started on the directory.
package recorder

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Recorder writes records into the files of a directory. It does nothing to
// the directory before it is started or has a first draft.
type Recorder struct {
	options   Options
	redaction *redaction
	batchSize int
	troubles  *troubles
	budget    *budget
	shards    []shard
	queue     *queue
	create    createFunc

	drafts  sync.Pool // of *Draft
	batches sync.Pool // of *batch

	inUse   atomic.Int64 // drafts, which keep the recorder running
	closing atomic.Bool
	writing atomic.Int64 // since when the batch waits that is being written, Unix ns; 0: none is

	mu       sync.Mutex
	running  atomic.Bool   // changes under mu
	finished chan struct{} // closed when the last goroutine has ended
	finish   chan chan struct{}
}

// New returns a recorder of options that Check finds no fault with, and that
// have their defaults.
func New(options Options, observer Observer) *Recorder {
	r := &Recorder{
		options:  options,
		troubles: newTroubles(observer),
		shards:   make([]shard, min(runtime.GOMAXPROCS(0), 16)),
		queue:    newQueue(),
		create:   create,
		finished: make(chan struct{}),
		finish:   make(chan chan struct{}),

		// Batches of an eighth let files come close to their size.
		batchSize: int(max(1, min(largestBatch, int64(options.RotateSize)/8))),
	}
	close(r.finished)                         // none runs
	r.redaction, _ = newRedaction(&r.options) // Check has found no fault
	r.redaction.keys.fail = func(err error) { r.troubles.failed(ReadKey, err, "", 0) }
	r.budget = newBudget(int64(options.Memory), options.OnOverflow.drop, r.flushIdle)
	r.drafts.New = func() any { return new(Draft) }
	r.batches.New = func() any { return &batch{records: make([]byte, 0, r.batchSize)} }
	return r
}

// Start looks after the directory before any request comes: what a crash has
// left there is finished, what is outdated goes.
func (r *Recorder) Start() {
	r.enter()
	r.leave()
}

// Waiting returns how many bytes of memory records take that are being received
// or wait for the disk.
func (r *Recorder) Waiting() int64 { return r.budget.used.Load() }

// Lag returns how long the oldest record has been waiting for the disk.
func (r *Recorder) Lag() time.Duration {
	oldest := time.Time{}
	earlier := func(since time.Time) {
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	if ns := r.writing.Load(); ns != 0 {
		earlier(time.Unix(0, ns))
	}
	if since, ok := r.queue.oldest(); ok {
		earlier(since)
	}
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		if s.batch != nil && s.batch.count > 0 {
			earlier(s.batch.since)
		}
		s.mu.Unlock()
	}
	if oldest.IsZero() {
		return 0
	}
	return time.Since(oldest)
}

// Skip counts an exchange that was to be recorded and is not, as it is of a kind
// of which no record can be made.
func (r *Recorder) Skip() { r.troubles.observer.Dropped(Unsupported, 1) }

// MaxBody returns how many bytes of a body are kept.
func (r *Recorder) MaxBody() int64 { return int64(r.options.MaxBody) }

// closePatience is how long Close waits for the disk.
const closePatience = 10 * time.Second

// enter begins the use of the recorder and has its goroutine running.
func (r *Recorder) enter() {
	r.inUse.Add(1)
	if r.running.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running.Load() {
		r.running.Store(true)
		before := r.finished
		r.finished = make(chan struct{})
		go r.run(before, r.finished)
	}
}

// leave ends a use. A closed recorder ends after the last one.
func (r *Recorder) leave() { r.inUse.Add(-1) }

// Close writes all that was added and finishes the file. Drafts that are in
// use then, and even later ones, are recorded as well, and written soon after
// the last of them. Another Close writes those at once that have come since.
func (r *Recorder) Close() {
	r.closing.Store(true)
	finished := r.end()
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	done := make(chan struct{})
	select {
	case r.finish <- done:
	case <-finished:
		return
	case <-patience.C:
		return
	}
	select {
	case <-done:
	case <-patience.C:
	}
}

// Running reports whether the recorder has something to write or to wait for.
func (r *Recorder) Running() bool {
	select {
	case <-r.end():
		return false
	default:
		return true
	}
}

// end returns a channel that is closed when the goroutine that was begun last
// has ended.
func (r *Recorder) end() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

// StopWaiting lets requests go on that wait for memory; their records are lost.
func (r *Recorder) StopWaiting() { r.budget.stopWaiting() }

// mayEnd ends the goroutine's time if nobody uses the recorder: enter either
// sees that none is running or is seen here.
func (r *Recorder) mayEnd() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running.Store(false)
	if r.inUse.Load() > 0 {
		r.running.Store(true)
		return false
	}
	return true
}
