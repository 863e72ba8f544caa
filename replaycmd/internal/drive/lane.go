// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// lane sends what is on a tape to one target. Its senders take turns at the
// tape; the one whose turn it is waits until the request is due and passes the
// turn on as it begins to send.
type lane struct {
	run     *Run
	tape    *tape
	number  int // of the lane on its tape
	dialer  *send.Dialer
	results *measure.Target
	waiter  pace.Waiter
	timed   bool // requests are due at times
	start   time.Time
	fail    func(error)
	firsts  firsts

	turn    turn
	last    time.Duration // when the last request was started
	senders int           // changed by whose turn it is
	wg      sync.WaitGroup
}

func (l *lane) hire(ctx context.Context) {
	l.senders++
	l.wg.Go(func() { l.send(ctx) })
}

// send is the life of a sender.
func (l *lane) send(ctx context.Context) {
	client := send.NewClient(ctx, l.dialer)
	defer client.Close()
	samples := l.results.Sender()
	wake := make(chan struct{}, 1)
	for {
		e := l.take(ctx, wake)
		if e == nil {
			return
		}
		sample, err := l.sendEntry(client, e)
		samples.Add(sample)
		l.tape.giveBack(e)
		if err != nil && sample.Kind != send.Interrupted {
			l.firsts.note(err)
			l.fail(err)
		}
	}
}

// take gives the next entry when it is due, nil if there is none. If no other
// sender is free, another is added in place of this one.
func (l *lane) take(ctx context.Context, wake chan struct{}) *entry {
	l.turn.take(wake)
	e := l.next(ctx)
	l.turn.give(func() {
		if e != nil && l.senders < l.run.Connections {
			l.hire(ctx)
		}
	})
	return e
}

// next gives the next entry when it is due. Those that can't be started within
// the duration of the run are counted as unsent.
func (l *lane) next(ctx context.Context) *entry {
	for {
		e := l.tape.next(l.number)
		if e == nil || ctx.Err() != nil {
			return nil
		}
		at := l.earliest(e)
		if l.timed && !l.over(at) {
			if err := l.waiter.Wait(ctx, l.start.Add(at)); err != nil {
				l.tape.giveBack(e)
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
		l.tape.giveBack(e)
		l.results.AddUnsent()
	}
}

// earliest is when an entry may start at the earliest.
func (l *lane) earliest(e *entry) time.Duration {
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

// over says whether a time is too late to start a request.
func (l *lane) over(at time.Duration) bool {
	switch {
	case l.run.Duration == 0:
		return false
	case l.timed:
		return at >= l.run.Duration+grace
	}
	return at >= l.run.Duration
}

// sendEntry sends one request and says what became of it.
func (l *lane) sendEntry(client *send.Client, e *entry) (measure.Sample, error) {
	now := time.Now()
	sample := measure.Sample{Due: e.due, Started: now.Sub(l.start), Class: e.class, Truncated: e.message.Truncated}
	if !l.timed {
		sample.Due = sample.Started
	}
	if e.bad != nil {
		sample.Ended, sample.Kind = sample.Started, send.KindOf(e.bad)
		return sample, e.bad
	}
	answer, err := client.Send(&e.message, now)
	sample.Ended = answer.Ended.Sub(l.start)
	if l.run.By == measure.ByStatus {
		sample.Class = answer.Status
	}
	if err != nil {
		sample.Kind = send.KindOf(err)
		return sample, err
	}
	sample.Status, sample.Sent, sample.Received = answer.Status, answer.Sent, answer.Received
	return sample, nil
}

// stopper ends a run at the first failure.
type stopper struct {
	cancel context.CancelCauseFunc
	first  atomic.Pointer[error]
}

func (s *stopper) fail(err error) {
	if s.first.CompareAndSwap(nil, &err) {
		s.cancel(err)
	}
}
