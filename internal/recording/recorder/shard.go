// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"sync"
	"time"
)

// shard is a batch that is being filled. There are several so that requests
// do not wait for one another.
type shard struct {
	mu    sync.Mutex
	batch *batch
	_     [40]byte // keeps shards on cache lines of their own
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
