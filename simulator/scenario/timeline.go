// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// timeline tells which stage is in force at a moment.
type timeline struct {
	begun  time.Time
	starts []time.Duration // of the stages, ascending
}

func newTimeline(r *recipe.Recipe, now time.Time) timeline {
	return timeline{begun: now, starts: r.Timeline()}
}

// stage gives the number of the stage in force, counted from 1; 0 is before
// the first one.
func (t *timeline) stage(now time.Time) int {
	elapsed := now.Sub(t.begun)
	if last := len(t.starts); elapsed >= t.starts[last-1] {
		return last
	}
	next, _ := slices.BinarySearch(t.starts, elapsed+1)
	return next
}
