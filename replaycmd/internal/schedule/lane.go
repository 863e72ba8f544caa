// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"sync"
	"time"
)

// lane sends what is on a feed to one target. Its senders take one another's
// place at the feed: the one that holds the lock waits until the next request
// is due and passes the lock on as it begins to send.
type lane[M any] struct {
	run    *Run[M]
	feed   *feed[M]
	number int // of the lane on its feed
	target Target[M]
	waiter Waiter
	timed  bool // requests are due at times
	start  time.Time
	wg     sync.WaitGroup

	lock lifo
	// The rest belongs to who holds the lock.
	last    time.Duration // when the last request was started
	freed   time.Duration // when a connection was free again after all had been busy
	senders int
}

func (l *lane[M]) hire(ctx context.Context) {
	l.senders++
	l.wg.Go(func() { l.send(ctx) })
}

// send is the life of a sender.
func (l *lane[M]) send(ctx context.Context) {
	sender := l.target.NewSender(ctx)
	defer sender.Close()
	wake := make(chan struct{}, 1)
	for {
		e, freed := l.take(ctx, wake)
		if e == nil {
			return
		}
		sender.Send(&e.message, l.begin(e, freed))
		l.feed.release(e)
	}
}

func (l *lane[M]) begin(e *entry[M], freed time.Duration) Start {
	now := time.Now()
	s := Start{At: now, Started: now.Sub(l.start), Due: e.due}
	if !l.timed {
		s.Due = s.Started
		return s
	}
	s.Busy = freed-s.Due > s.Started-freed
	return s
}

// take returns the next entry when it is due, nil if there is none, and when
// the connection that it goes over was free after all had been busy. If no other
// sender is free, another is hired in place of this one.
func (l *lane[M]) take(ctx context.Context, wake chan struct{}) (e *entry[M], freed time.Duration) {
	free := l.lock.lock(wake)
	if free && l.timed && l.senders == l.run.Connections {
		l.freed = time.Since(l.start)
	}
	e = l.next(ctx)
	freed = l.freed
	l.lock.unlock(func() {
		if e != nil && l.senders < l.run.Connections {
			l.hire(ctx)
		}
	})
	return e, freed
}

// next returns the next entry when it is due. Those that can't be started within
// the duration of the run are skipped.
func (l *lane[M]) next(ctx context.Context) *entry[M] {
	for {
		e := l.feed.take(l.number)
		if e == nil || ctx.Err() != nil {
			return nil
		}
		at := l.earliest(e)
		if l.timed && !l.over(at) {
			if err := l.waiter.Wait(ctx, l.start.Add(at)); err != nil {
				l.feed.release(e)
				return nil
			}
		}
		at = max(at, time.Since(l.start))
		switch {
		case !l.over(at):
			l.last = at
			return e
		case !l.timed:
			return nil
		}
		due := e.due
		l.feed.release(e)
		l.target.Skip(due)
	}
}

// earliest returns when an entry may start at the earliest.
func (l *lane[M]) earliest(e *entry[M]) time.Duration {
	if !l.timed {
		return 0
	}
	if delay := l.run.Schedule.MinDelay; delay > 0 && l.last > 0 {
		return max(e.due, l.last+delay)
	}
	return e.due
}

// grace is how much longer than the duration of the run requests may start that
// were due within it.
const grace = time.Second

// over reports whether a time is too late to start a request.
func (l *lane[M]) over(at time.Duration) bool {
	switch {
	case l.run.Duration == 0:
		return false
	case l.timed:
		return at >= l.run.Duration+grace
	}
	return at >= l.run.Duration
}

// lifo is a lock that goes to whoever came last, so that no more connections are
// in use than it takes and those in use don't idle for long.
type lifo struct {
	mu      sync.Mutex
	locked  bool
	waiting []chan struct{}
}

// lock takes the lock and reports whether it was free. The channel is the
// caller's own, with a capacity of one.
func (l *lifo) lock(wake chan struct{}) (free bool) {
	l.mu.Lock()
	if !l.locked {
		l.locked = true
		l.mu.Unlock()
		return true
	}
	l.waiting = append(l.waiting, wake)
	l.mu.Unlock()
	<-wake
	return false
}

// unlock passes the lock on. If no one is waiting for it, idle is called before
// anyone else can take it.
func (l *lifo) unlock(idle func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 {
		l.locked = false
		idle()
		return
	}
	wake := l.waiting[n-1]
	l.waiting = l.waiting[:n-1]
	wake <- struct{}{}
}
