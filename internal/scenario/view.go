// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// View is a route, or what else decides answers, at a moment, for those who
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
	// Counts are the answers since the counts were cleared.
	Counts Counts

	latency prometheus.Observer
}

// Views gives all routes as they are now, sorted by pattern, and then what is
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
		view.Elapsed = r.timeline.elapsed(now)
		view.Stage = r.timeline.stage(now)
		views = append(views, view)
	}
	for _, name := range slices.Sorted(maps.Keys(s.outside)) {
		views = append(views, viewOf(s.outside[name].counts, s.outside[name].series.latency()))
	}
	return views
}

func viewOf(c *counts, latency prometheus.Observer) View {
	return View{
		Name:    c.series.route,
		Counts:  c.byStatus(),
		latency: latency,
	}
}

// LatencyBounds gives the upper bounds, in seconds, by which latencies are
// counted.
func LatencyBounds() []float64 { return slices.Clone(latencyBounds) }

// Latencies gives the answers by imposed latency, one number for each of
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
