// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

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
	batchSize int
	troubles  *troubles
	budget    *budget
	shards    []shard
	queue     *queue
	create    func(*Options, time.Time) (*output, error)

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

// New makes a recorder of options that Check finds no fault with.
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
	close(r.finished) // none runs
	r.budget = newBudget(int64(options.Memory), options.OnOverflow.drop, r.hurry)
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

// Waiting tells how many bytes of memory records take that are being received
// or wait for the disk.
func (r *Recorder) Waiting() int64 { return r.budget.used.Load() }

// Lag tells how long the oldest record has been waiting for the disk.
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
