// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package response

import (
	"slices"
	"testing"
	"time"
)

// TestPlans holds that all of a body is sent, in the pieces and by the times
// that the pace says.
func TestPlans(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pace   Pace
		size   int64
		pieces int
		first  time.Duration
		last   time.Duration
	}{
		{"nothing", Pace{Bandwidth: 5}, 0, 0, 0, 0},
		{"at once", Pace{}, 1000, 1, 0, 0},
		{"bandwidth", Pace{Bandwidth: 1000}, 2000, 40, 50 * time.Millisecond, 2 * time.Second},
		{"bandwidth with a rest", Pace{Bandwidth: 1000}, 1001, 21, 50 * time.Millisecond, 1001 * time.Millisecond},
		{"a byte a second", Pace{Bandwidth: 1}, 3, 3, time.Second, 3 * time.Second},
		{"much bandwidth", Pace{Bandwidth: 1 << 40}, 100, 1, 0, 0},
		{"chunks", Pace{Chunks: 10, Duration: 5 * time.Second}, 1003, 10, 500 * time.Millisecond, 5 * time.Second},
		{"more chunks than bytes", Pace{Chunks: 10, Duration: 6 * time.Second}, 3, 3, 2 * time.Second, 6 * time.Second},
		{"chunks of nothing", Pace{Chunks: 10, Duration: time.Second}, 0, 0, 0, 0},
	} {
		plan := tc.pace.Plan(tc.size)
		var sent, smallest, largest int64
		var first, last time.Duration
		pieces := 0
		for due, n, more := plan.Next(0); more; due, n, more = plan.Next(last) {
			if pieces == 0 {
				first, smallest = due, n
			}
			if due < last || n < 1 {
				t.Fatalf("%s: piece %d of %d bytes is due at %v after %v", tc.name, pieces, n, due, last)
			}
			pieces, sent, last = pieces+1, sent+n, due
			smallest, largest = min(smallest, n), max(largest, n)
		}
		if sent != tc.size || pieces != tc.pieces || first.Round(time.Microsecond) != tc.first || last.Round(time.Microsecond) != tc.last {
			t.Errorf("%s: sent %d in %d pieces from %v to %v", tc.name, sent, pieces, first, last)
		}
		if tc.pace.Chunks > 0 && largest-smallest > 1 {
			t.Errorf("%s: pieces from %d to %d bytes", tc.name, smallest, largest)
		}
	}
}

// TestPlansOfThoseWhoAreLate holds that pieces which are due already are one.
func TestPlansOfThoseWhoAreLate(t *testing.T) {
	for _, pace := range []Pace{{Chunks: 10, Duration: 10 * time.Second}, {Bandwidth: 10}} {
		plan := pace.Plan(100)
		var got []int64
		for _, elapsed := range []time.Duration{0, 3500 * time.Millisecond, time.Minute} {
			_, n, _ := plan.Next(elapsed)
			got = append(got, n)
		}
		if want := map[bool][]int64{true: {10, 20, 70}, false: {1, 34, 65}}[pace.Chunks > 0]; !slices.Equal(got, want) {
			t.Errorf("%+v: got pieces of %v, want %v", pace, got, want)
		}
		if _, _, more := plan.Next(0); more {
			t.Errorf("%+v: something is left", pace)
		}
	}
}
