// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// timeline tells which stage is in force at a moment.
type timeline struct {
	begun  time.Time
	starts []time.Duration // of the stages, ascending
	period time.Duration   // after which it begins again; 0: never
}

func newTimeline(r *recipe.Recipe, begun time.Time) timeline {
	return timeline{begun, r.Timeline(), r.Period()}
}

// elapsed gives the time since the recipe began, for the last time if it loops.
func (t *timeline) elapsed(now time.Time) time.Duration {
	elapsed := now.Sub(t.begun)
	if t.period > 0 && elapsed > 0 {
		elapsed %= t.period
	}
	return elapsed
}

// stage gives the number of the stage in force, counted from 1; 0 is before
// the first one.
func (t *timeline) stage(now time.Time) int {
	elapsed := t.elapsed(now)
	if last := len(t.starts); elapsed >= t.starts[last-1] {
		return last
	}
	next, _ := slices.BinarySearch(t.starts, elapsed+1)
	return next
}

// share tells how far a stage has gone on its way to the next, from 0 to 1.
func (t *timeline) share(stage int, now time.Time) float64 {
	end := t.period
	if stage < len(t.starts) {
		end = t.starts[stage]
	}
	start := t.starts[stage-1]
	return float64(t.elapsed(now)-start) / float64(end-start)
}
