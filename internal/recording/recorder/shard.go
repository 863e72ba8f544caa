// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"sync"
	"time"
)

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
		r.seal()
		r.queue.push(own)
		return
	}
	r.addToShard(d, size)
	if r.budget.waiters.Load() > 0 {
		r.hurry()
	}
}

func (r *Recorder) addToShard(d *Draft, size int64) {
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

// hurry sends all that is in the shards to be written if the writer has nothing
// to do. Otherwise whoever waits for memory is woken when it has written that.
func (r *Recorder) hurry() {
	if r.queue.unwritten.Load() == 0 {
		r.seal()
	}
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

// sealShard sends what is in a shard to be written. Only the bytes of records
// count as memory taken, so few of them do not keep the memory of a whole batch.
func (r *Recorder) sealShard(s *shard) {
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
