// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"sync"
	"sync/atomic"
	"time"
)

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

// pop gives the next batch, or nil.
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

// oldest tells since when the first batch waits.
func (q *queue) oldest() (since time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == 0 {
		return time.Time{}, false
	}
	return q.batches[0].since, true
}
