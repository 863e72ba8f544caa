// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a target each of whose requests takes a time.
type fake struct {
	takes time.Duration
	slow  map[int]time.Duration // what some take instead

	mu      sync.Mutex
	sent    []int
	starts  []Start
	skipped int
}

func (f *fake) NewSender(context.Context) Sender[int] { return f }

func (f *fake) Close() {}

func (f *fake) Skip(*int, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skipped++
}

func (f *fake) Send(m *int, start Start) {
	f.mu.Lock()
	f.sent = append(f.sent, *m)
	f.starts = append(f.starts, start)
	f.mu.Unlock()
	if takes, ok := f.slow[*m]; ok {
		time.Sleep(takes)
		return
	}
	time.Sleep(f.takes)
}

// numbers returns a source of n requests that hold their numbers.
func numbers(n int) func(*int) (int64, error) {
	next := 0
	return func(m *int) (int64, error) {
		if next == n {
			return 0, io.EOF
		}
		*m = next
		next++
		return 0, nil
	}
}

// runOf sends n requests of the same size to targets, in a bubble of synctest.
func runOf(t *testing.T, run *Run[int], n, size int, targets ...*fake) {
	t.Helper()
	run.Next, run.Size = numbers(n), func(*int) int { return size }
	for _, target := range targets {
		run.Targets = append(run.Targets, target)
	}
	run.Prepare()
	for _, l := range run.lanes {
		l.waiter.Close()
		l.waiter = NewTimerWaiter()
	}
	if err := run.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Requests that come too late are counted and not waited for, one by one or at
// all.
func TestTheMinimumDelayDoesNotProlongTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &fake{takes: 90*time.Minute - time.Second}
		began := time.Now()
		runOf(t, &Run[int]{Schedule: Schedule{MinDelay: time.Minute}, Duration: 90 * time.Minute, Connections: 1}, 1000, 1, target)
		if len(target.sent) != 2 || target.skipped != 88 {
			t.Errorf("%d were sent and %d were not", len(target.sent), target.skipped)
		}
		if took := time.Since(began); took != 2*target.takes {
			t.Errorf("it took %v", took)
		}
	})
}

// A target that hangs has no effect on another, and what is kept for it is
// bounded: the oldest requests are skipped and counted as its own.
func TestUnderAScheduleASlowTargetHoldsUpNoOther(t *testing.T) {
	for name, tc := range map[string]struct {
		size, kept int // bytes of a request, and how many of them are kept
	}{
		"small requests": {100, 10_000},
		"large requests": {4<<20 - entrySize, 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n, hangs = 10_000, time.Hour
				good, bad := &fake{takes: time.Millisecond}, &fake{takes: hangs}
				run := &Run[int]{Schedule: Schedule{Rate: Steady(100)}, Duration: 100 * time.Second, Connections: 2}
				began := time.Now()
				runOf(t, run, n, tc.size, good, bad)
				if took := time.Since(began); took != hangs+10*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				if len(good.sent) != n || good.skipped != 0 || !slices.IsSorted(good.sent) {
					t.Errorf("the good target got %d and missed %d", len(good.sent), good.skipped)
				}
				for _, start := range good.starts {
					if start.Started != start.Due || start.Busy {
						t.Fatalf("what was due at %v started at %v", start.Due, start.Started)
					}
				}
				if len(bad.sent) != 2 || bad.skipped != n-2 {
					t.Errorf("the bad target got %v and missed %d", bad.sent, bad.skipped)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				good, slow := &fake{}, &fake{takes: 10 * time.Second}
				runOf(t, &Run[int]{Schedule: Schedule{Rate: Steady(100)}, Connections: 1}, 1000, tc.size, good, slow)
				if len(good.sent) != 1000 || good.skipped != 0 {
					t.Errorf("the good target got %d and missed %d", len(good.sent), good.skipped)
				}
				if len(slow.sent)+slow.skipped != 1000 || tc.kept < 1000 && (slow.skipped == 0 || len(slow.sent) > tc.kept+2) {
					t.Errorf("the slow target got %d and missed %d", len(slow.sent), slow.skipped)
				}
				if !slices.IsSorted(slow.sent) {
					t.Error("it got them out of order")
				}
			})
		})
	}
}

// Large requests in flight hold up those that follow, so that memory does not grow
// with connections.
func TestLargeRequestsInFlightAreBounded(t *testing.T) {
	for _, schedule := range []Schedule{{}, {Rate: Steady(1000)}} {
		synctest.Test(t, func(t *testing.T) {
			one, other := &fake{takes: time.Second}, &fake{takes: time.Second}
			began := time.Now()
			runOf(t, &Run[int]{Schedule: schedule, Connections: 12}, 12, 40<<20, one, other)
			if took := time.Since(began); took < 3*time.Second || took > 4*time.Second { // four of 40 MiB are more than 128 MiB
				t.Errorf("%s: it took %v", schedule.String(), took)
			}
			for _, target := range []*fake{one, other} {
				if len(target.sent)+target.skipped != 12 || !schedule.Timed() && target.skipped > 0 {
					t.Errorf("%s: %d were sent and %d were not", schedule.String(), len(target.sent), target.skipped)
				}
			}
		})
	}
}

func TestWhyARequestIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &fake{takes: 100 * time.Millisecond}
		runOf(t, &Run[int]{Schedule: Schedule{Rate: Steady(20)}, Connections: 1}, 10, 1, target)
		for i, start := range target.starts {
			if late := start.Started > start.Due; late != (i > 0) || start.Busy != late {
				t.Errorf("request %d: due %v, started %v, busy %v", i, start.Due, start.Started, start.Busy)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) { // the machine sleeps while a connection is free
		target := new(fake)
		run := &Run[int]{Schedule: Schedule{Rate: Steady(20)}, Connections: 2}
		run.Targets = []Target[int]{target}
		run.Next, run.Size = numbers(10), func(*int) int { return 1 }
		run.Prepare()
		run.lanes[0].waiter.Close()
		run.lanes[0].waiter = oversleeping{NewTimerWaiter()}
		if err := run.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, start := range target.starts {
			if start.Busy || i > 0 && start.Started == start.Due {
				t.Errorf("request %d: due %v, started %v, busy %v", i, start.Due, start.Started, start.Busy)
			}
		}
	})
}

type oversleeping struct{ Waiter }

func (o oversleeping) Wait(ctx context.Context, until time.Time) error {
	if time.Until(until) <= 0 {
		return ctx.Err()
	}
	return o.Waiter.Wait(ctx, until.Add(30*time.Millisecond))
}

// Requests that are late since all connections were busy start no closer together
// than the minimum either.
func TestTheMinimumDelayHoldsForLateRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &fake{takes: time.Second, slow: map[int]time.Duration{0: 10 * time.Minute, 1: 9 * time.Minute}}
		runOf(t, &Run[int]{Schedule: Schedule{MinDelay: time.Minute}, Connections: 2}, 6, 1, target)
		var at []time.Duration
		for _, start := range target.starts {
			at = append(at, start.Started)
		}
		if want := []time.Duration{0, time.Minute, 10 * time.Minute, 11 * time.Minute, 12 * time.Minute, 13 * time.Minute}; !slices.Equal(at, want) {
			t.Errorf("they started at %v, want %v", at, want)
		}
	})
}
