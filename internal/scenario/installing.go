// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"errors"
	"time"
)

var errEnded = errors.New("the configuration that this was sent to is no longer in force")

// install starts the clock of routes and puts them in force beside those that
// are kept. What was counted for a pattern stays with it.
func (s *Scenario) install(kept *table, added []*route) error {
	if s.ctx.Err() != nil {
		return errEnded
	}
	after, err := kept.with(added)
	if err != nil {
		return err
	}
	before := s.table.Load()
	now := time.Now()
	for _, r := range after.routes {
		if r.counts != nil {
			continue // it is kept
		}
		if old := before.get(r.recipe.Route); old != nil {
			r.start(old.counts, now)
		} else {
			r.start(newCounts(s.name, r.recipe.Route), now)
		}
	}
	s.replace(after)
	return nil
}

// replace puts a table in the place of the one in force, and ends the routes
// that it lacks.
func (s *Scenario) replace(after *table) {
	before := s.table.Swap(after)
	for _, old := range before.routes {
		successor := after.get(old.recipe.Route)
		if successor == old {
			continue
		}
		old.stop()
		if successor == nil {
			s.former.add(old.counts.byStatus())
			old.counts.release()
		}
	}
}
