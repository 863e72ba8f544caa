// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"
)

func TestRateDoesNotDrift(t *testing.T) {
	for _, rate := range []Rate{3, 7, 100, 5000, 999983} {
		s := Schedule{Rate: Steady(rate)}
		var due time.Duration
		for range int(rate)*10 + 1 {
			due = s.Next(0)
		}
		if off := due - 10*time.Second; off.Abs() > time.Nanosecond {
			t.Errorf("at %v the last request of ten seconds is off by %v", rate, off)
		}
	}
}

func TestRecordedTimesAreScaled(t *testing.T) {
	const origin = 1_800_000_000_000_000_000
	s := Schedule{Speed: 2}
	for i, at := range []time.Duration{0, 100 * time.Millisecond, 3 * time.Second, 24 * time.Hour} {
		if due := s.Next(origin + int64(at)); due != at/2 {
			t.Errorf("request %d is due after %v, want %v", i, due, at/2)
		}
	}
}

func TestUnknownAndBackwardTimesStandForTheOnesBefore(t *testing.T) {
	const origin = 1_800_000_000_000_000_000
	s := Schedule{Speed: 1}
	want := []time.Duration{0, 5 * time.Second, 5 * time.Second, 5 * time.Second, 6 * time.Second}
	for i, recorded := range []int64{origin, origin + 5e9, 0, origin + 4e9, origin + 6e9} {
		if due := s.Next(recorded); due != want[i] {
			t.Errorf("request %d is due after %v, want %v", i, due, want[i])
		}
	}
}

func TestMinDelay(t *testing.T) {
	for name, s := range map[string]*Schedule{
		"recorded times": {Speed: 1, MinDelay: time.Second},
		"rate":           {Rate: Steady(1000), MinDelay: time.Second},
		"alone":          {MinDelay: time.Second},
	} {
		if !s.Timed() {
			t.Errorf("%s: not timed", name)
		}
		for i := range 5 {
			if due := s.Next(1 + int64(i)); due != time.Duration(i)*time.Second {
				t.Errorf("%s: request %d is due after %v", name, i, due)
			}
		}
	}
}

func TestAsFastAsPossibleIsDueAtOnce(t *testing.T) {
	var s Schedule
	if s.Timed() {
		t.Error("it is timed")
	}
	for i := range 3 {
		if due := s.Next(int64(i) * 1e9); due != 0 {
			t.Errorf("request %d is due after %v", i, due)
		}
	}
}
