// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// What is kept for a target that is behind another on the same feed. Without a
// schedule the fast one waits then; under one the slow one misses the oldest.
const (
	defaultAhead  = 1024     // requests, without a schedule
	maxAheadBytes = 64 << 20 // always
)

// maxFlying is how many bytes of requests may have been taken by all targets and
// still be sent, before another is read.
const maxFlying = 128 << 20

// entrySize is roughly what an entry takes beside its message, in bytes.
const entrySize = 256

// entry is one request on a feed.
type entry[M any] struct {
	message M
	due     time.Duration
	warm    bool // it belongs to the warm-up, and counts nowhere
	bytes   int
	users   atomic.Int32 // lanes that are not done with it
}

// feed reads requests and keeps each until every lane has taken it.
type feed[M any] struct {
	next     func(*M) (recordedNS int64, err error)
	size     func(*M) int
	done     func(*M)
	schedule Schedule
	elapsed  func() time.Duration
	limit    int64                                        // how many requests, those of the warm-up aside; 0: all
	ahead    int64                                        // how many are kept for slower lanes, without a schedule
	until    time.Duration                                // requests due from then on aren't sent; 0: all are
	stopping func()                                       // makes a call of next return
	skip     func(lane int, missed *M, due time.Duration) // counts a request that a lane misses

	mu    sync.Mutex
	moved sync.Cond // an entry has been taken or read, or the feed has ended

	ring  []*entry[M] // number n at n modulo its length, a power of two
	base  int64       // the number of the first entry that not all lanes have taken
	end   int64       // the number of the next to be read
	bytes int
	flies int     // bytes that are no longer in the ring and still in use
	heads []int64 // for each lane, the number of the entry that it takes next

	reading bool         // a lane reads the next request, without the lock
	filled  atomic.Int64 // requests that were read, also those that another run sends
	checked int64
	warm    int64 // requests of the warm-up; belongs to who reads
	others  int64 // requests behind it that another run sends; belongs to who reads
	free    []*entry[M]
	over    bool  // nothing more is taken
	err     error // why nothing more is read; io.EOF at the regular end
}

func (f *feed[M]) start(ctx context.Context, lanes int) (stop func() bool) {
	f.moved.L = &f.mu
	f.heads = make([]int64, lanes)
	f.ring = make([]*entry[M], 16)
	f.checked = -1
	return context.AfterFunc(ctx, f.close)
}

// close lets nothing more be taken.
func (f *feed[M]) close() {
	f.stopping()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.moved.Broadcast()
}

// closeIfStuck ends reading if it is at the same request as at the last call.
func (f *feed[M]) closeIfStuck() {
	f.mu.Lock()
	at := int64(-1)
	if f.reading {
		at = f.filled.Load()
	}
	stuck := at >= 0 && at == f.checked
	f.checked = at
	f.mu.Unlock()
	if stuck {
		f.stopping()
	}
}

// take returns the next entry of a lane, nil after the last. The lane releases
// it when it is done with it.
func (f *feed[M]) take(lane int) *entry[M] {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.over && f.heads[lane] == f.end {
		switch {
		case f.err != nil:
			return nil
		case f.reading, f.full() && !f.schedule.Timed(), f.flies >= maxFlying:
			f.moved.Wait()
		case f.full():
			f.skipOldest()
		default:
			f.read()
		}
	}
	if f.over {
		return nil
	}
	e := *f.at(f.heads[lane])
	f.heads[lane]++
	f.forget()
	return e
}

func (f *feed[M]) at(number int64) **entry[M] { return &f.ring[number&int64(len(f.ring)-1)] }

// full reports whether as much is kept for slower lanes as may be.
func (f *feed[M]) full() bool {
	n := f.end - f.base
	return n > 0 && f.bytes >= maxAheadBytes || n >= f.ahead && !f.schedule.Timed()
}

// skipOldest makes the lanes that have yet to take the oldest entry miss it.
func (f *feed[M]) skipOldest() {
	e := *f.at(f.base)
	for lane, head := range f.heads {
		if head == f.base {
			f.heads[lane]++
			f.skip(lane, &e.message, e.due)
			if e.users.Add(-1) == 0 {
				f.flies -= e.bytes // forget counts it
				f.reuse(e)
			}
		}
	}
	f.forget()
}

// forget drops the entries that every lane has taken.
func (f *feed[M]) forget() {
	slowest := f.heads[0]
	for _, head := range f.heads[1:] {
		slowest = min(slowest, head)
	}
	if slowest == f.base {
		return
	}
	for ; f.base < slowest; f.base++ {
		slot := f.at(f.base)
		f.bytes -= (*slot).bytes
		f.flies += (*slot).bytes
		*slot = nil
	}
	if len(f.heads) > 1 {
		f.moved.Broadcast()
	}
}

// read puts one more request on the feed. While it reads, the feed is open to
// others: reading may take as long as a pipe has nothing.
func (f *feed[M]) read() {
	e := f.blank()
	f.reading = true
	f.mu.Unlock()
	err := f.fill(e)
	f.mu.Lock()
	f.reading = false
	if err != nil {
		f.err = err
	} else {
		e.users.Store(int32(len(f.heads)))
		f.append(e)
	}
	if len(f.heads) > 1 {
		f.moved.Broadcast()
	}
}

func (f *feed[M]) append(e *entry[M]) {
	if n := int64(len(f.ring)); f.end-f.base == n {
		old := f.ring
		f.ring = make([]*entry[M], 2*n)
		for number := f.base; number < f.end; number++ {
			*f.at(number) = old[number&(n-1)]
		}
	}
	*f.at(f.end) = e
	f.end++
	f.bytes += e.bytes
}

// fill makes an entry of the next request that this run sends.
func (f *feed[M]) fill(e *entry[M]) error {
	for {
		if f.limit > 0 && f.end-f.warm+f.others == f.limit {
			return io.EOF
		}
		recorded, err := f.next(&e.message)
		elsewhere := errors.Is(err, ErrElsewhere)
		if err != nil && !elsewhere {
			return err
		}
		f.filled.Add(1)
		e.due = f.schedule.Next(recorded)
		if f.until > 0 && e.due >= f.until {
			return io.EOF
		}
		e.warm = f.isWarm(e.due)
		switch {
		case elsewhere && !e.warm:
			f.others++
		case elsewhere:
		case e.warm:
			f.warm++
		}
		if !elsewhere {
			e.bytes = f.size(&e.message) + entrySize
			return nil
		}
		if f.stopped() {
			return io.EOF
		}
	}
}

// stopped reports whether nothing more is taken: reading for others goes on for
// long where a run has few requests of its own.
func (f *feed[M]) stopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.over
}

// isWarm reports whether a request belongs to the warm-up: by when it is due or,
// without times, by now.
func (f *feed[M]) isWarm(due time.Duration) bool {
	warmup := f.schedule.Warmup
	if warmup > 0 && !f.schedule.Timed() {
		due = f.elapsed()
	}
	return due < warmup
}

func (f *feed[M]) blank() *entry[M] {
	if n := len(f.free); n > 0 {
		e := f.free[n-1]
		f.free = f.free[:n-1]
		return e
	}
	return new(entry[M])
}

// release takes an entry back from a lane.
func (f *feed[M]) release(e *entry[M]) {
	if e.users.Add(-1) > 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flies >= maxFlying {
		f.moved.Broadcast()
	}
	f.flies -= e.bytes
	f.reuse(e)
}

// reuse keeps an entry for another request.
func (f *feed[M]) reuse(e *entry[M]) {
	f.done(&e.message)
	f.free = append(f.free, e)
}

// failure returns why the feed ended, nil if that was regular.
func (f *feed[M]) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, io.EOF) || errors.Is(f.err, context.Canceled) {
		return nil
	}
	return f.err
}
