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
// which none is complete, and whose clients may be slow. When nothing waits for
// the disk, whose memory would come free, two may go beyond the limit: a body
// that grows, and a complete record. So one body always gets through, and
// complete records wait for the disk only, never for bodies.
type budget struct {
	limit    int64
	drop     bool
	flush    func() // has the writer begin with what is queued
	used     atomic.Int64
	queued   atomic.Int64 // the part of used that waits for the disk
	waiters  atomic.Int32
	stopping chan struct{}
	stop     sync.Once

	mu       sync.Mutex
	freed    chan struct{} // closed when memory has come free
	borrower *Draft        // whose body goes beyond the limit
}

func newBudget(limit int64, drop bool, flush func()) *budget {
	return &budget{limit: limit, drop: drop, flush: flush, freed: make(chan struct{}), stopping: make(chan struct{})}
}

// grow reserves n bytes for the body of a draft.
func (b *budget) grow(ctx context.Context, d *Draft, n int64) error {
	return b.take(ctx, n, func() bool { return b.lend(d) })
}

// lend lets a body grow beyond the limit. Its turn begins when nothing waits
// for the disk and ends when its record is added or lost.
func (b *budget) lend(d *Draft) bool {
	if b.borrower == nil && b.queued.Load() == 0 {
		b.borrower = d
		d.borrowing = true
	}
	return b.borrower == d
}

// complete reserves the bytes that a complete record of some size lacks, and
// counts it among those that wait for the disk.
func (b *budget) complete(ctx context.Context, size, lacks int64) error {
	counted := false
	if lacks > 0 {
		err := b.take(ctx, lacks, func() bool {
			counted = b.queued.CompareAndSwap(0, size)
			return counted
		})
		if err != nil {
			return err
		}
	}
	if !counted {
		b.queued.Add(size)
	}
	return nil
}

// take reserves n bytes, beyond the limit if that is allowed. If there are none it
// fails or waits, as configured.
func (b *budget) take(ctx context.Context, n int64, beyond func() bool) error {
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
		if beyond() {
			b.used.Add(n)
			b.mu.Unlock()
			return nil
		}
		freed := b.freed
		b.mu.Unlock()
		b.flush()
		if b.drop {
			return errFull
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.stopping:
			return errStopping
		}
	}
}

// fits reserves n bytes if the limit lets it.
func (b *budget) fits(n int64) bool {
	for {
		used := b.used.Load()
		if used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// release frees n bytes of the budget and wakes those that wait for memory.
func (b *budget) release(n int64) {
	b.used.Add(-n)
	if b.waiters.Load() > 0 {
		b.mu.Lock()
		b.wake()
		b.mu.Unlock()
	}
}

// repay ends a draft's right to go beyond the limit.
func (b *budget) repay(d *Draft) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.borrower == d {
		b.borrower = nil
		b.wake()
	}
}

// wake makes those who wait look again.
func (b *budget) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// stopWaiting ends all waiting for memory, now and later.
func (b *budget) stopWaiting() { b.stop.Do(func() { close(b.stopping) }) }
