// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// RouteStatus is what a route does at a moment.
type RouteStatus struct {
	Route string
	// Stage is the number of the stage in force, counted from 1; 0 is before
	// the first one.
	Stage   int
	Status  int
	Latency latency.Latency
}

// Status tells what every route does now, sorted by pattern. There is always
// the route of all paths: without a recipe it answers 406, or 404 what nothing
// outside of recipes takes.
func (s *Scenario) Status() []RouteStatus {
	var list []RouteStatus
	table := s.table.Load()
	now := time.Now()
	for _, r := range table.routes {
		status := RouteStatus{Route: r.recipe.Route, Stage: r.timeline.stage(now), Status: http.StatusOK}
		if status.Stage > 0 {
			stage := r.recipe.Stages[status.Stage-1]
			status.Status, status.Latency = stage.Status, stage.Latency
		}
		list = append(list, status)
	}
	if table.get(recipe.DefaultRoute) == nil {
		list = append(list, RouteStatus{Route: recipe.DefaultRoute, Status: s.withoutRecipe()})
		slices.SortFunc(list, func(a, b RouteStatus) int { return strings.Compare(a.Route, b.Route) })
	}
	return list
}

func (s *Scenario) withoutRecipe() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.outside) > 0 {
		return unmatchedStatus
	}
	return notSetStatus
}

// Recipes gives the recipes in force, sorted by their routes.
func (s *Scenario) Recipes() recipe.List {
	routes := s.table.Load().routes
	list := make(recipe.List, 0, len(routes))
	for _, r := range routes {
		list = append(list, r.recipe)
	}
	return list
}

// Counts are the numbers of answers by their status.
type Counts map[int]uint64

// Total adds up the statuses.
func (c Counts) Total() (n uint64) {
	for _, m := range c {
		n += m
	}
	return n
}

func (c Counts) add(others Counts) {
	for status, n := range others {
		c[status] += n
	}
}

// Counted tells how many answers there were, in all and for every route.
func (s *Scenario) Counted() (all Counts, byRoute map[string]Counts) {
	s.mu.Lock() // so that no route is on its way from the table to the former ones
	defer s.mu.Unlock()
	all = maps.Clone(s.former)
	all.add(s.unset.byStatus())
	byRoute = make(map[string]Counts)
	for _, r := range s.table.Load().routes {
		byRoute[r.recipe.Route] = r.counts.byStatus()
		all.add(byRoute[r.recipe.Route])
	}
	for name, counts := range s.outside {
		byRoute[name] = counts.byStatus()
		all.add(byRoute[name])
	}
	return all, byRoute
}

// ClearCounts sets what Counted tells to 0. Metrics go on counting.
func (s *Scenario) ClearCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unset.clear()
	clear(s.former)
	for _, counts := range s.outside {
		counts.clear()
	}
	for _, r := range s.table.Load().routes {
		r.counts.clear()
	}
}
