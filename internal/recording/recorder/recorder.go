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
	running  atomic.Bool // changes under mu
	finished chan struct{}
	finish   chan chan struct{}
}

// shard is a batch that is being filled. There are several so that requests
// do not wait for one another.
type shard struct {
	mu    sync.Mutex
	batch *batch
	_     [40]byte // keeps shards on cache lines of their own
}

// New makes a recorder of options that Check finds no fault with.
func New(options Options, observer Observer) *Recorder {
	r := &Recorder{
		options:  options,
		troubles: newTroubles(observer),
		budget:   newBudget(options.Memory, options.OnOverflow.drop),
		shards:   make([]shard, min(runtime.GOMAXPROCS(0), 16)),
		queue:    newQueue(),
		create:   create,
		finish:   make(chan chan struct{}),

		// Batches of an eighth let files come close to their size.
		batchSize: int(max(1, min(largestBatch, options.RotateSize/8))),
	}
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

// put adds an encoded draft, whose memory is taken, to a batch.
func (r *Recorder) put(d *Draft, size int64) {
	r.budget.release(d.reserved - size) // of a body's memory more than its bytes is taken
	d.reserved = 0
	r.budget.queued.Add(size)
	if size > int64(r.batchSize)/2 {
		own := &batch{records: make([]byte, 0, size), since: time.Now(), count: 1}
		own.records = d.encoder.Append(own.records, &d.Request)
		r.seal()
		r.queue.push(own)
		return
	}
	s := r.lockShard()
	defer s.mu.Unlock()
	if s.batch != nil && len(s.batch.records)+int(size) > r.batchSize {
		r.sealShard(s)
	}
	if s.batch == nil {
		s.batch = r.batches.Get().(*batch)
	}
	if s.batch.count == 0 {
		s.batch.since = time.Now()
	}
	s.batch.records = d.encoder.Append(s.batch.records, &d.Request)
	s.batch.count++
	if r.closing.Load() {
		r.sealShard(s)
	}
}

// lockShard gives a shard that nobody uses, the first if possible: so requests
// that come one after the other are recorded in their order.
func (r *Recorder) lockShard() *shard {
	for i := range r.shards {
		if s := &r.shards[i]; s.mu.TryLock() {
			return s
		}
	}
	s := &r.shards[len(r.shards)-1]
	s.mu.Lock()
	return s
}

// seal sends all that is in the shards to be written.
func (r *Recorder) seal() {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		r.sealShard(s)
		s.mu.Unlock()
	}
}

func (r *Recorder) sealShard(s *shard) {
	if s.batch != nil && s.batch.count > 0 {
		r.queue.push(s.batch)
		s.batch = nil
	}
}
