// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

var (
	errFull     = errors.New("memory is full")
	errStopping = errors.New("the recorder stops")
)

// budget bounds the memory of records that are being received or wait for the
// disk.
//
// Bodies grow while others do, so all the memory may be held by records of
// which none is complete. One record may then go beyond the limit, if nothing
// waits for the disk whose memory would come free: so one always gets through.
type budget struct {
	limit    int64
	drop     bool
	used     atomic.Int64
	queued   atomic.Int64 // the part of used that waits for the disk
	waiters  atomic.Int32
	stopping chan struct{}
	stop     sync.Once

	mu       sync.Mutex
	room     chan struct{} // closed when there is room again
	borrower *Draft
}

func newBudget(limit int64, drop bool) *budget {
	return &budget{limit: limit, drop: drop, room: make(chan struct{}), stopping: make(chan struct{})}
}

// take gets n bytes for a draft. If there are none it fails or waits, as
// configured; while it waits it has the queue written by calling flush.
func (b *budget) take(ctx context.Context, d *Draft, n int64, flush func()) error {
	if b.fits(n) {
		return nil
	}
	b.waiters.Add(1)
	defer b.waiters.Add(-1)
	for {
		b.mu.Lock()
		if b.fits(n) {
			b.mu.Unlock()
			return nil
		}
		if b.queued.Load() == 0 && (b.borrower == nil || b.borrower == d) {
			b.borrower = d
			d.borrowing = true
			b.used.Add(n)
			b.mu.Unlock()
			return nil
		}
		room := b.room
		b.mu.Unlock()
		flush()
		if b.drop {
			return errFull
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.stopping:
			return errStopping
		}
	}
}

func (b *budget) fits(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

// release gives n bytes back.
func (b *budget) release(n int64) {
	b.used.Add(-n)
	if b.waiters.Load() > 0 {
		b.mu.Lock()
		b.makeRoom()
		b.mu.Unlock()
	}
}

// repay ends a draft's right to go beyond the limit.
func (b *budget) repay(d *Draft) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.borrower == d {
		b.borrower = nil
		b.makeRoom()
	}
}

func (b *budget) makeRoom() {
	close(b.room)
	b.room = make(chan struct{})
}

// stopWaiting ends all waiting for room, now and later.
func (b *budget) stopWaiting() { b.stop.Do(func() { close(b.stopping) }) }
