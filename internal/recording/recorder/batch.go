// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/frame"
)

// largestBatch is the memory of a batch. Larger records get one of their own.
const largestBatch = frame.BlockSize

// batch is a row of records on its way to the disk.
type batch struct {
	records []byte
	count   int
	since   time.Time // when its first record was added
}

// shard is a batch that is being filled. There are several so that requests
// do not wait for one another.
type shard struct {
	mu    sync.Mutex
	batch *batch
	_     [48]byte // keeps shards on cache lines of their own
}

// put encodes a draft, whose memory is taken, into a batch.
func (r *Recorder) put(d *Draft, size int64) {
	if spare := d.reserved - size; spare > 0 { // memory of a body grows faster than the body
		r.budget.release(spare)
	}
	d.reserved = 0
	if size > int64(r.batchSize)/2 {
		own := &batch{records: make([]byte, 0, size), since: time.Now(), count: 1}
		own.records = d.encoder.Append(own.records, &d.Request)
		r.flush()
		r.queue.push(own)
		return
	}
	r.addToShard(d, size)
	if r.budget.waiters.Load() > 0 {
		r.flushIdle()
	}
}

func (r *Recorder) addToShard(d *Draft, size int64) {
	s := r.lockShard()
	defer s.mu.Unlock()
	if s.batch != nil && len(s.batch.records)+int(size) > r.batchSize {
		r.flushShard(s)
	}
	if s.batch == nil {
		s.batch = r.batches.Get().(*batch)
	}
	if s.batch.count == 0 {
		s.batch.since = time.Now()
	}
	s.batch.records = d.encoder.Append(s.batch.records, &d.Request)
	s.batch.count++
}

// lockShard returns a shard that nobody uses, the first if possible: so requests
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

// flushIdle sends all that is in the shards to be written if the writer has
// nothing to do. Otherwise whoever waits for memory is woken when it has written
// that.
func (r *Recorder) flushIdle() {
	if r.queue.unwritten.Load() == 0 {
		r.flush()
	}
}

// flush sends all that is in the shards to be written.
func (r *Recorder) flush() {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		r.flushShard(s)
		s.mu.Unlock()
	}
}

// flushOlder sends what is in the shards to be written if some of it was added
// by a time.
func (r *Recorder) flushOlder(than time.Time) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		old := s.batch != nil && s.batch.count > 0 && !s.batch.since.After(than)
		s.mu.Unlock()
		if old {
			r.flush()
			return
		}
	}
}

// flushShard sends what is in a shard to be written. Only the bytes of records
// count as memory taken, so few of them do not keep the memory of a whole batch.
func (r *Recorder) flushShard(s *shard) {
	b := s.batch
	if b == nil || b.count == 0 {
		return
	}
	s.batch = nil
	if len(b.records) < cap(b.records)/2 {
		few := &batch{records: bytes.Clone(b.records), since: b.since, count: b.count}
		r.reuse(b)
		b = few
	}
	r.queue.push(b)
}

// queue holds the batches that wait to be written, in order. How many there
// are is bounded by the memory that records may take.
type queue struct {
	mu        sync.Mutex
	batches   []*batch
	unwritten atomic.Int64  // batches that are here or being written
	wake      chan struct{} // has something when there may be batches to write
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) push(b *batch) {
	q.unwritten.Add(1)
	q.mu.Lock()
	q.batches = append(q.batches, b)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// pop returns the next batch, or nil.
func (q *queue) pop() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == 0 {
		return nil
	}
	b := q.batches[0]
	q.batches[0] = nil
	q.batches = q.batches[1:]
	return b
}

// oldest returns since when the first batch waits.
func (q *queue) oldest() (since time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == 0 {
		return time.Time{}, false
	}
	return q.batches[0].since, true
}
