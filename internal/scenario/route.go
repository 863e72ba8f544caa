// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
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

	bodySize int64 // of bodies
}

// newRoutes makes the content of recipes, except for what is fetched.
func newRoutes(list recipe.List, defaults Defaults) ([]*route, error) {
	routes := make([]*route, len(list))
	room := mostHeld
	for i := range list {
		r := &route{recipe: list[i], stop: func() {}}
		r.chance = chanceOf(&r.recipe, defaults)
		content, err := newContent(&r.recipe, r.chance)
		if err != nil {
			return nil, list.At(i, err)
		}
		r.content.Store(content)
		r.bodies, r.bodySize = stageBodies(&r.recipe, r.chance)
		if room -= r.held(); room < 0 {
			return nil, list.At(i, r.noRoom())
		}
		routes[i] = r
	}
	return routes, nil
}

// chanceOf gives what decides the random choices of a route. With a seed, each
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

// decide says what a request is answered at a moment.
func (r *route) decide(now time.Time) response.Response {
	script := r.script.Load()
	number := r.timeline.stage(now)
	if number == 0 {
		return r.act(&script.plain, 0, 0)
	}
	stage := &r.recipe.Stages[number-1]
	if stage.Percent != nil && !r.befalls(*stage.Percent) {
		return r.act(&script.plain, 0, 0)
	}
	latency := r.draw(stage, number, now)
	if stage.Fault != nil && r.befalls(stage.Fault.Percent) {
		return r.act(&script.faults[number-1], number, latency)
	}
	return r.act(&script.stages[number-1], number, latency)
}

// befalls draws whether a share of the requests has this one in it.
func (r *route) befalls(percent units.Percent) bool {
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

// act makes the answer of a cue and counts it.
func (r *route) act(c *cue, stage int, latency time.Duration) response.Response {
	c.tally.hit()
	r.latency.Observe(latency.Seconds())
	return response.Response{
		Message: c.response(r.chance),
		Latency: latency,
		Fault:   c.fault,
		Pace:    c.pace,
		Route:   r.recipe.Route,
		Stage:   stage,
	}
}
