// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
)

// Requests that come too late are counted and not waited for, one by one or at
// all.
func TestTheMinimumDelayDoesNotProlongTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := &Run{
			Records: &records{n: 1000}, Classes: measure.NewClasses(measure.ByNothing),
			Schedule: pace.Schedule{MinDelay: time.Minute}, Duration: 90 * time.Minute,
		}
		l := &lane{
			run: run, tape: run.tapes()[0], results: measure.NewTarget(nil), waiter: pace.NewTimerWaiter(),
			timed: true, start: time.Now(),
		}
		run.lanes = []*lane{l}
		defer l.tape.start(t.Context(), 1)()
		if e := l.next(t.Context()); e == nil {
			t.Fatal("there is no first request")
		}
		time.Sleep(90*time.Minute - time.Second) // it hangs
		if e := l.next(t.Context()); e == nil {
			t.Fatal("there is no second request")
		}
		began := time.Now()
		if e := l.next(t.Context()); e != nil {
			t.Errorf("the one at %v was not too late", e.due)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		if totals := l.results.Finish(); totals.Unsent != 88 {
			t.Errorf("%d were not sent", totals.Unsent)
		}
	})
}
