// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage

import (
	"sync"

	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

// latencies keeps those of routes as long as nothing is counted for them:
// reading them takes longer than all the rest, and of many routes few are busy.
type latencies struct {
	mu    sync.Mutex
	known map[string]reading
}

// reading is what was counted for a route.
type reading struct {
	total     uint64
	settled   bool // it was read once more after the last answer was counted
	latencies []uint64
}

// of returns the readings of all routes by their names.
func (l *latencies) of(views []scenario.View) map[string]reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[string]reading, len(views))
	for i := range views {
		view := &views[i]
		before, ok := l.known[view.Name]
		total := view.Counts.Total()
		same := ok && before.total == total
		if !same || !before.settled {
			before = reading{total, same, view.Latencies()}
		}
		known[view.Name] = before
	}
	l.known = known
	return known
}
