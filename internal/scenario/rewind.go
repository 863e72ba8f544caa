// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

// Rewind starts the clock of every recipe in force again, unless the recipe says
// when that was 0. What was fetched from origins is kept.
func (s *Scenario) Rewind() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.table.Load()
	routes, err := newRoutes(s.Recipes(), s.defaults)
	if err != nil {
		return err
	}
	for _, r := range routes {
		if r.recipe.Origin != "" {
			r.content.Store(before.get(r.recipe.Route).content.Load())
		}
	}
	if err := s.install(before, routes); err != nil {
		return err
	}
	if s.begun {
		s.fetchInBackground(routes)
	}
	return nil
}
