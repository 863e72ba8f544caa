// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"container/heap"
	"context"
	"errors"
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
	holder Holder[M] // the target, if its messages may have to wait; else nil
	waiter Waiter
	timed  bool // requests are due at times
	start  time.Time
	wg     sync.WaitGroup

	lock lifo
	// The rest belongs to who holds the lock.
	pending turn[M] // taken from the feed and not due yet
	ended   bool    // the feed has no more
	room    room[M]
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
		t, freed := l.take(ctx, wake)
		if t.entry == nil {
			return
		}
		sender.Send(&t.message, l.begin(&t, freed))
		l.feed.release(t.entry)
	}
}

func (l *lane[M]) begin(t *turn[M], freed time.Duration) Start {
	now := time.Now()
	s := Start{At: now, Started: now.Sub(l.start), Due: t.due, Warm: t.warm}
	if !l.timed {
		s.Due = s.Started
		return s
	}
	if t.ready > 0 && t.ready-s.Due > s.Started-t.ready {
		s.Waited = true
		return s
	}
	s.Busy = freed-s.Due > s.Started-freed
	return s
}

// take returns the next message when it is due, none if there is no more, and when
// the connection that it goes over was free after all had been busy. If no other
// sender is free, another is hired in place of this one.
func (l *lane[M]) take(ctx context.Context, wake chan struct{}) (t turn[M], freed time.Duration) {
	free := l.lock.lock(wake)
	if free && l.timed && l.senders == l.run.Connections {
		l.freed = time.Since(l.start)
	}
	t = l.next(ctx)
	freed = l.freed
	l.lock.unlock(func() {
		if t.entry != nil && l.senders < l.run.Connections {
			l.hire(ctx)
		}
	})
	return t, freed
}

// next returns the next message when it is due. Those that can't be started within
// the duration of the run are skipped.
func (l *lane[M]) next(ctx context.Context) turn[M] {
	for {
		t := l.first(ctx)
		if t.entry == nil || ctx.Err() != nil {
			return turn[M]{}
		}
		at := l.earliest(&t)
		if l.timed && !l.over(at) {
			switch err := l.waiter.Wait(ctx, l.start.Add(at)); {
			case errors.Is(err, errWoken):
				l.putBack(t)
				continue
			case err != nil:
				l.feed.release(t.entry)
				return turn[M]{}
			}
		}
		at = max(at, time.Since(l.start))
		switch {
		case !l.over(at):
			if !l.check(&t) {
				continue
			}
			if t.due > at && l.timed { // it follows another later than it was due
				l.room.enter(t)
				heap.Push(&l.room.later, t)
				continue
			}
			l.last = at
			return t
		case !l.timed:
			return turn[M]{}
		}
		l.skip(t)
	}
}

// skip counts a message that is not sent.
func (l *lane[M]) skip(t turn[M]) {
	l.target.Skip(&t.message, t.due)
	l.feed.release(t.entry)
}

// first returns what is due first: the next message of the feed, or one that has
// waited. It waits for these at the end of the feed, and returns none after the
// last.
func (l *lane[M]) first(ctx context.Context) turn[M] {
	for {
		if l.holder != nil {
			l.checkAgain()
			if later := l.room.later; len(later) > 0 && later[0].due <= time.Since(l.start) {
				return l.popLater()
			}
		}
		if l.pending.entry == nil && !l.ended && (l.timed || !l.full()) {
			e := l.feed.take(l.number)
			if l.ended = e == nil; !l.ended {
				l.pending = turn[M]{entry: e, due: e.due}
			}
		}
		switch later := l.room.later; {
		case len(later) > 0 && (l.pending.entry == nil || later[0].due < l.pending.due):
			return l.popLater()
		case l.pending.entry == nil && l.room.held > 0 && ctx.Err() == nil:
			l.waiter.Wait(ctx, time.Now().Add(time.Hour)) //nolint:errcheck // whatever ends it
			continue
		}
		t := l.pending
		l.pending = turn[M]{}
		return t
	}
}

func (l *lane[M]) popLater() turn[M] {
	t := heap.Pop(&l.room.later).(turn[M])
	l.room.leave(t)
	return t
}

// putBack takes back what first returned.
func (l *lane[M]) putBack(t turn[M]) {
	if t.checked {
		l.room.enter(t)
		heap.Push(&l.room.later, t)
		return
	}
	l.pending = t
}

// earliest returns when a message may start at the earliest.
func (l *lane[M]) earliest(t *turn[M]) time.Duration {
	if !l.timed {
		return 0
	}
	if delay := l.run.Schedule.MinDelay; delay > 0 && l.last > 0 {
		return max(t.due, l.last+delay)
	}
	return t.due
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
