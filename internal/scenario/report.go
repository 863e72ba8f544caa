// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// RouteStatus is what a route does at a moment.
type RouteStatus struct {
	Route string
	// Stage is the number of the stage in force, counted from 1; 0 is before
	// the first one.
	Stage int
	// Outcomes are those of the stage, which are shared and must not be changed:
	// at least one. Before the first stage it is a plain 200.
	Outcomes []recipe.Outcome
	// PassedTo is the upstream where requests go that nothing takes; empty for
	// what is answered here.
	PassedTo string
}

// Status returns what every route does now, sorted by pattern. There is always
// the route of all paths: without a recipe that gets 406, or 404 what nothing
// outside of recipes takes, or it is passed on.
func (s *Scenario) Status() []RouteStatus {
	var list []RouteStatus
	table := s.table.Load()
	now := time.Now()
	for _, r := range table.routes {
		status := RouteStatus{Route: r.recipe.Route, Outcomes: []recipe.Outcome{{Status: http.StatusOK}}}
		if status.Stage, _ = r.timeline.stage(now); status.Stage > 0 {
			status.Outcomes = r.recipe.Stages[status.Stage-1].Outcomes
		}
		list = append(list, status)
	}
	if table.get(recipe.DefaultRoute) == nil {
		unset := RouteStatus{Route: recipe.DefaultRoute, Outcomes: []recipe.Outcome{{Status: s.withoutRecipe()}}}
		if upstream := s.passedTo.Load(); upstream != nil && *upstream != "" {
			unset.PassedTo, unset.Outcomes[0].Status = *upstream, NoStatus
		}
		list = append(list, unset)
		slices.SortFunc(list, func(a, b RouteStatus) int { return strings.Compare(a.Route, b.Route) })
	}
	return list
}

func (s *Scenario) withoutRecipe() int {
	if s.outsiders.Load() {
		return unmatchedStatus
	}
	return notSetStatus
}

// Recipes returns the recipes in force, sorted by their routes, for being shown:
// without the credentials of origins.
func (s *Scenario) Recipes() recipe.List { return s.recipes().Redacted() }

func (s *Scenario) recipes() recipe.List {
	routes := s.table.Load().routes
	list := make(recipe.List, 0, len(routes))
	for _, r := range routes {
		list = append(list, r.recipe)
	}
	return list
}

// Counts are the numbers of responses by their status.
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

// Counted returns how many responses there were, in all and for every route.
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

// Branches returns, for every route with a stage of several outcomes, how many
// responses there were of each outcome by its number; 0 is none.
func (s *Scenario) Branches() map[string]Counts {
	byRoute := make(map[string]Counts)
	for _, r := range s.table.Load().routes {
		if slices.ContainsFunc(r.recipe.Stages, func(stage recipe.Stage) bool { return len(stage.Outcomes) > 1 }) {
			byRoute[r.recipe.Route] = r.counts.byBranch()
		}
	}
	return byRoute
}

// ClearCounts sets what Counted returns to 0. Metrics go on counting.
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

// View is a route, or what else decides responses, at a moment, for those who
// watch. It is put together from what is counted anyway, so that watching costs
// the requests nothing.
type View struct {
	// Name is the pattern of the route.
	Name string
	// Recipe is what the route runs; nil for what is decided outside of recipes.
	// It is shared, must not be changed, and is another one as soon as the route
	// has another recipe or starts again.
	Recipe *recipe.Recipe
	// Elapsed is where the route is on the timeline of its stages; negative if
	// it is to begin later.
	Elapsed time.Duration
	// Stage is the number of the stage in force, counted from 1; 0 is before
	// the first one.
	Stage int
	// Counts are the responses since the counts were cleared.
	Counts Counts

	latency prometheus.Observer
}

// Views returns all routes as they are now, sorted by pattern, and then what is
// decided outside of recipes, sorted by name.
func (s *Scenario) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	routes := s.table.Load().routes
	now := time.Now()
	views := make([]View, 0, len(routes)+len(s.outside))
	for _, r := range routes {
		view := viewOf(r.counts, r.latency)
		view.Recipe = &r.recipe
		view.Elapsed, _ = r.timeline.elapsed(now)
		view.Stage, _ = r.timeline.stage(now)
		views = append(views, view)
	}
	for _, name := range slices.Sorted(maps.Keys(s.outside)) {
		views = append(views, viewOf(s.outside[name].counts, s.outside[name].series.latency()))
	}
	return views
}

// Unrouted returns what was counted for requests that no route took, under no
// name.
func (s *Scenario) Unrouted() View { return View{Counts: s.unset.byStatus()} }

func viewOf(c *counts, latency prometheus.Observer) View {
	return View{
		Name:    c.series.route,
		Counts:  c.byStatus(),
		latency: latency,
	}
}

// LatencyBounds returns the upper bounds, in seconds, by which latencies are
// counted.
func LatencyBounds() []float64 { return slices.Clone(latencyBounds) }

// Latencies returns the responses by imposed latency, one number for each of
// LatencyBounds and one for what is above. They go with the route only.
func (v *View) Latencies() []uint64 {
	n := make([]uint64, len(latencyBounds)+1)
	var sum dto.Metric
	if histogram, ok := v.latency.(prometheus.Metric); !ok || histogram.Write(&sum) != nil {
		return n
	}
	var below uint64
	for i, bucket := range sum.GetHistogram().GetBucket() {
		n[i] = bucket.GetCumulativeCount() - below
		below = bucket.GetCumulativeCount()
	}
	n[len(n)-1] = sum.GetHistogram().GetSampleCount() - below
	return n
}
