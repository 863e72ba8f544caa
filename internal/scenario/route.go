// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// route is one recipe that runs.
type route struct {
	recipe   recipe.Recipe
	timeline timeline
	chance   rand.Source

	bodies  []*content // of the stages that have their own
	content atomic.Pointer[content]
	script  atomic.Pointer[script]
	counts  *counts // nil before it is in force
	latency prometheus.Observer
	stop    context.CancelFunc // ends what fetches its origin in the background

	fixedSize int64 // of the recipe, in bytes
}

// newRoutes makes the content of recipes, except for what is fetched. It stops
// when the context ends, as it does with the client that posts them.
func newRoutes(ctx context.Context, list recipe.List, defaults Defaults) ([]*route, error) {
	routes := make([]*route, len(list))
	free := capacity
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &route{recipe: list[i], stop: func() {}}
		r.chance = chanceOf(&r.recipe, defaults)
		content, err := newContent(&r.recipe, r.chance)
		if err != nil {
			return nil, list.At(i, err)
		}
		r.content.Store(content)
		r.bodies = stageBodies(ctx, &r.recipe, r.chance)
		r.fixedSize = r.recipe.Size()
		if free -= r.size(); free < 0 {
			return nil, list.At(i, r.errTooLarge())
		}
		routes[i] = r
	}
	return routes, nil
}

// chanceOf returns what decides the random choices of a route. With a seed, each
// route has a course of its own, so that requests to others change nothing.
func chanceOf(r *recipe.Recipe, defaults Defaults) rand.Source {
	seed := r.Seed
	if seed == nil {
		seed = defaults.Seed
	}
	if seed == nil {
		return latency.Random()
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.Route))
	return latency.Seeded(*seed ^ hash.Sum64())
}

// start sets the clock to 0, unless the recipe says when it was.
func (r *route) start(counts *counts, now time.Time) {
	if r.recipe.Start != nil {
		now = *r.recipe.Start
	}
	r.counts = counts
	r.latency = counts.series.latency()
	r.timeline = newTimeline(&r.recipe, now)
	r.script.Store(newScript(r))
}

// supply brings the content that was fetched.
func (r *route) supply(c *content) {
	r.content.Store(c)
	if r.counts != nil {
		r.script.Store(newScript(r))
	}
}

// decide returns the response to a request at a moment.
func (r *route) decide(now time.Time) response.Response {
	script := r.script.Load()
	number := r.timeline.stage(now)
	if number == 0 {
		return r.act(&script.plain, 0, 0)
	}
	stage := &r.recipe.Stages[number-1]
	if stage.Percent != nil && !r.rolls(*stage.Percent) {
		return r.act(&script.plain, 0, 0)
	}
	latency := r.draw(stage, number, now)
	if stage.Fault != nil && r.rolls(stage.Fault.Percent) {
		return r.act(&script.faults[number-1], number, latency)
	}
	return r.act(&script.stages[number-1], number, latency)
}

// rolls draws whether a share of the requests has this one in it.
func (r *route) rolls(percent units.Percent) bool {
	const bits = 53 // what a float64 holds
	return float64(r.chance.Uint64()>>(64-bits))/(1<<bits)*100 < float64(percent)
}

// draw draws the latency of a request.
func (r *route) draw(stage *recipe.Stage, number int, now time.Time) time.Duration {
	if !stage.Ramp {
		return stage.Latency.Sample(r.chance)
	}
	next := &r.recipe.Stages[number%len(r.recipe.Stages)]
	return latency.SampleBetween(stage.Latency, next.Latency, r.timeline.share(number, now), r.chance)
}

// act makes the response of a variant and counts it.
func (r *route) act(c *variant, stage int, latency time.Duration) response.Response {
	c.tally.hit()
	r.latency.Observe(latency.Seconds())
	return response.Response{
		Message: c.draw(r.chance),
		Latency: latency,
		Fault:   c.fault,
		Pace:    c.pace,
		Route:   r.recipe.Route,
		Stage:   stage,
	}
}

// timeline knows which stage is in force at a moment.
type timeline struct {
	begun  time.Time
	starts []time.Duration // of the stages, ascending
	period time.Duration   // after which it begins again; 0: never
}

func newTimeline(r *recipe.Recipe, begun time.Time) timeline {
	return timeline{begun, r.Timeline(), r.Period()}
}

// elapsed returns the time since the recipe began, for the last time if it loops.
func (t *timeline) elapsed(now time.Time) time.Duration {
	elapsed := now.Sub(t.begun)
	if t.period > 0 && elapsed > 0 {
		elapsed %= t.period
	}
	return elapsed
}

// stage returns the number of the stage in force, counted from 1; 0 is before
// the first one.
func (t *timeline) stage(now time.Time) int {
	elapsed := t.elapsed(now)
	if last := len(t.starts); elapsed >= t.starts[last-1] {
		return last
	}
	next, _ := slices.BinarySearch(t.starts, elapsed+1)
	return next
}

// share returns how far a stage has gone on its way to the next, from 0 to 1.
func (t *timeline) share(stage int, now time.Time) float64 {
	end := t.period
	if stage < len(t.starts) {
		end = t.starts[stage]
	}
	start := t.starts[stage-1]
	return float64(t.elapsed(now)-start) / float64(end-start)
}
