// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Run sends requests, messages of type M, to one or more targets, each when it
// is due. A request that is due while all connections are busy waits for one and
// is late. Under a schedule each target has its own time: one that is slow holds
// up no other, and misses what does not fit into the memory that is kept for it.
type Run[M any] struct {
	// Next makes a message of the next request and returns when that was
	// recorded, in nanoseconds since 1970 (0: unknown); io.EOF after the last.
	// It is never called twice at the same time for one feed. A request that
	// another run sends, of those that share a schedule, is ErrElsewhere: it has
	// its time and its number, and no message.
	Next func(*M) (recordedNS int64, err error)
	// Size returns how many bytes a message takes.
	Size func(*M) int
	// Done is called when no target needs a message any longer, before it is
	// used for another, unless it is nil.
	Done func(*M)
	// Same means that all requests are one and the same, as long as one goes on
	// reading. Every target gets them at its own pace then, whatever the schedule.
	Same bool
	// Schedule decides when each request is due.
	Schedule Schedule
	// Targets are where the requests go. All get the same.
	Targets []Target[M]
	// Ahead is how many requests one target may be ahead of another without a
	// schedule; by default 1024.
	Ahead int
	// Holding means that messages may have to wait for one another: each target is
	// a Holder.
	Holding bool
	// Connections bounds the senders of each target.
	Connections int
	// Requests bounds the requests to each target, unless it is 0.
	Requests int64
	// Duration bounds the time in which requests are started, unless it is 0. The
	// schedule's Warmup is part of it.
	Duration time.Duration
	// StopReading makes a call of Next return that waits, and any later one,
	// unless it is nil: Next never waits then.
	StopReading func()

	lanes []*lane[M]
	start atomic.Pointer[time.Time] // progress is asked for from elsewhere
}

// Target takes what is sent to it.
type Target[M any] interface {
	// NewSender returns one more sender, which ends with ctx.
	NewSender(ctx context.Context) Sender[M]
	// Skip counts a message that was due at a time and is not sent. It must not wait.
	Skip(m *M, due time.Duration)
}

// Sender sends one request at a time.
type Sender[M any] interface {
	// Send sends a message and returns when it is done. The message is shared
	// with other senders and valid until then.
	Send(*M, Start)
	Close()
}

// Start is when a request is started, as times since the start of the run.
type Start struct {
	At      time.Time     // now
	Started time.Duration // now
	Due     time.Duration // without a schedule: now
	Busy    bool          // it waited longer for a free connection than for anything else
	Waited  bool          // it waited longer for another message than for anything else
	Warm    bool          // it belongs to the warm-up
}

// Prepare makes ready what can be made ready before the first request.
func (r *Run[M]) Prepare() {
	for _, target := range r.Targets {
		l := &lane[M]{run: r, target: target, timed: r.Schedule.Timed(), waiter: NewWaiter()}
		if r.Holding {
			l.holder = target.(Holder[M]) //nolint:errcheck // as it was promised
		}
		r.lanes = append(r.lanes, l)
	}
	if r.StopReading == nil {
		r.StopReading = func() {}
	}
	if r.Done == nil {
		r.Done = func(*M) {}
	}
	now := time.Now()
	r.start.Store(&now)
}

// Began returns when the run began, from which times are counted.
func (r *Run[M]) Began() time.Time { return *r.start.Load() }

// Elapsed returns how long the run has gone on.
func (r *Run[M]) Elapsed() time.Duration { return time.Since(*r.start.Load()) }

// Send sends all that is to be sent, until it is done or ctx ends, and waits
// until the senders are done. The error is that of Next.
func (r *Run[M]) Send(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feeds := r.feeds()
	start := time.Now()
	r.start.Store(&start)
	for _, f := range feeds {
		defer f.start(ctx, len(r.lanes)/len(feeds))()
	}
	for i, l := range r.lanes {
		l.feed, l.number, l.start = feeds[i%len(feeds)], i/len(feeds), start
	}
	for _, l := range r.lanes {
		l.hire(ctx)
	}
	inTime := r.keepTime(ctx, start, feeds)
	for _, l := range r.lanes {
		l.wg.Wait()
		l.waiter.Close() //nolint:errcheck // nothing depends on it
	}
	inTime()
	for _, f := range feeds {
		if err := f.failure(); err != nil {
			return err
		}
	}
	return nil
}

// feeds returns one feed for all lanes, or one for each.
func (r *Run[M]) feeds() []*feed[M] {
	feeds := make([]*feed[M], 1)
	if r.Same {
		feeds = make([]*feed[M], len(r.lanes))
	}
	for i := range feeds {
		feeds[i] = &feed[M]{
			elapsed: r.Elapsed, next: r.Next, size: r.Size, done: r.Done, schedule: r.Schedule, limit: r.Requests, until: r.Duration,
			ahead: int64(cmp.Or(r.Ahead, defaultAhead)), stopping: r.StopReading,
			skip: func(lane int, m *M, due time.Duration) { r.lanes[lane].target.Skip(m, due) }, // of one feed for all
		}
	}
	return feeds
}

// keepTime ends the feeds with the duration, until the function that it returns
// is called. Where requests are due at times reading goes on, so that those are
// counted that were due in time; but not if one request takes longer than the
// grace, as from a pipe that has no more.
func (r *Run[M]) keepTime(ctx context.Context, start time.Time, feeds []*feed[M]) (end func()) {
	if r.Duration == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		waiter := NewTimerWaiter()
		for at := start.Add(r.Duration); waiter.Wait(ctx, at) == nil; at = at.Add(grace) {
			for _, f := range feeds {
				if r.Schedule.Timed() {
					f.closeIfStuck()
				} else {
					f.close()
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
