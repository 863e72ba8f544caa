// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package drive sends requests to targets in time: it takes each from its
// source, waits until it is due and hands it to a free connection.
package drive

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// Run is one replay. Requests that are due while all connections are busy wait
// for one and are late; none is left out.
type Run struct {
	// Records gives what is to be sent. All targets get the same.
	Records Records
	// Same says that all records are one and the same, as long as one goes on
	// reading. Every target gets it at its own pace then; else none is far
	// ahead of another.
	Same bool
	// Rewriter makes messages of records.
	Rewriter send.Rewriter
	// Schedule says when each is due.
	Schedule pace.Schedule
	// Targets are where the requests go.
	Targets []send.Target
	// Send says how they are sent.
	Send send.Options
	// Connections bounds the connections of each target.
	Connections int
	// Requests bounds the requests to each target, unless it is 0.
	Requests int64
	// Duration bounds the time in which requests are started, unless it is 0.
	Duration time.Duration
	// By and Classes tell requests apart.
	By      measure.By
	Classes *measure.Classes
	// Rows gets the seconds of each target, unless it is nil.
	Rows func(target int, row measure.Row)
	// StopAtFailure ends the run at the first request without an answer.
	StopAtFailure bool
	// StopReading makes a Next of Records return that waits, and any later
	// one, unless it is nil: nothing of Records can wait then.
	StopReading func()

	lanes []*lane
	start time.Time
}

// Result is what became of the requests to one target.
type Result struct {
	Target      send.Target
	Connections int64   // opened
	Firsts      []error // the first failure of each kind
	*measure.Totals
}

// Start makes ready what can be made ready before the first request.
func (r *Run) Start() {
	for i, target := range r.Targets {
		var rows func(measure.Row)
		if r.Rows != nil {
			rows = func(row measure.Row) { r.Rows(i, row) }
		}
		r.lanes = append(r.lanes, &lane{
			run:     r,
			dialer:  send.NewDialer(target, r.Send),
			results: measure.NewTarget(rows),
			waiter:  pace.NewWaiter(),
		})
	}
	r.start = time.Now()
}

// Counts gives the requests that have ended at all targets and the errors
// among them, while the run goes on.
func (r *Run) Counts() (requests, errors int64) {
	for _, l := range r.lanes {
		n, e := l.results.Counts()
		requests += n
		errors += e
	}
	return requests, errors
}

// Elapsed is how long the run has gone on.
func (r *Run) Elapsed() time.Duration { return time.Since(r.start) }

// Drive sends all that is to be sent, until it is done or ctx ends, and waits
// for the answers. What ends with ctx counts as interrupted. The error is that
// of the source, or with StopAtFailure the first failure.
func (r *Run) Drive(ctx context.Context) ([]Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := &stopper{cancel: cancel}
	tapes := r.tapes()
	r.start = time.Now()
	for _, t := range tapes {
		defer t.start(ctx, len(r.lanes)/len(tapes))()
	}
	for i, l := range r.lanes {
		l.tape, l.number = tapes[i%len(tapes)], i/len(tapes)
		l.start, l.timed = r.start, r.Schedule.Timed()
		l.fail = func(error) {}
		if r.StopAtFailure {
			l.fail = stop.fail
		}
	}
	for _, l := range r.lanes {
		l.hire(ctx)
	}
	ended, inTime := r.tick(), r.keepTime(ctx, tapes)
	for _, l := range r.lanes {
		l.wg.Wait()
		l.waiter.Close()
	}
	inTime()
	ended()
	return r.results(), r.failure(tapes, stop)
}

// tapes gives one tape for all lanes, or one for each.
func (r *Run) tapes() []*tape {
	tapes := make([]*tape, 1)
	if r.Same {
		tapes = make([]*tape, len(r.lanes))
	}
	stopping := r.StopReading
	if stopping == nil {
		stopping = func() {}
	}
	for i := range tapes {
		tapes[i] = &tape{
			records: r.Records, same: r.Same, rewriter: &r.Rewriter, schedule: r.Schedule, classify: r.Classes.Of,
			limit: r.Requests, until: r.Duration, stopping: stopping,
		}
	}
	return tapes
}

// keepTime ends the tapes with the duration, until the function that it returns
// is called. Where requests are due at times reading goes on, so that those are
// counted that were due in time; but not if one record takes longer than the
// grace, as from a pipe that has no more.
func (r *Run) keepTime(ctx context.Context, tapes []*tape) (end func()) {
	if r.Duration == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		waiter := pace.NewTimerWaiter()
		for at := r.start.Add(r.Duration); waiter.Wait(ctx, at) == nil; at = at.Add(grace) {
			for _, t := range tapes {
				if r.Schedule.Timed() {
					t.hurry()
				} else {
					t.end()
				}
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// tick gives the results the seconds until the function that it returns is called.
func (r *Run) tick() (end func()) {
	if r.Rows == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				for _, l := range r.lanes {
					l.results.Tick(now.Sub(r.start))
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (r *Run) results() []Result {
	results := make([]Result, len(r.lanes))
	for i, l := range r.lanes {
		results[i] = Result{Target: r.Targets[i], Connections: l.dialer.Opened(), Firsts: l.firsts.errors(), Totals: l.results.Finish()}
	}
	return results
}

func (r *Run) failure(tapes []*tape, stop *stopper) error {
	if err := stop.first.Load(); err != nil {
		return *err
	}
	for _, t := range tapes {
		if err := t.failure(); err != nil {
			return err
		}
	}
	return nil
}
