// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// route is one recipe that runs.
type route struct {
	recipe   recipe.Recipe
	timeline timeline

	seeded  bool
	seed    uint64       // of the route, if it is seeded
	bodies  [][]*content // of the outcomes that have their own, by stage
	phase   atomic.Pointer[phase]
	content atomic.Pointer[content]
	script  atomic.Pointer[script]
	counts  *counts // nil before it is in force
	latency prometheus.Observer
	stop    context.CancelFunc // ends what fetches its origin in the background

	fixedSize      int64 // of the recipe, in bytes
	asksForClients bool  // an outcome looks at their addresses
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
		r.seed, r.seeded = seedOf(&r.recipe, defaults)
		chance := latency.Random()
		if r.seeded {
			chance = latency.Seeded(r.seed)
		}
		content, err := newContent(&r.recipe, chance)
		if err != nil {
			return nil, list.At(i, err)
		}
		r.content.Store(content)
		var files int64
		if r.bodies, files, err = ownBodies(ctx, &r.recipe, chance); err != nil {
			return nil, list.At(i, err)
		}
		r.fixedSize = r.recipe.Size() + files
		r.asksForClients = asksForClients(&r.recipe)
		if free -= r.size(); free < 0 {
			return nil, list.At(i, r.errTooLarge())
		}
		routes[i] = r
	}
	return routes, nil
}

// seedOf returns the seed of a route, if it has one. Each route has its own, so
// that requests to others change nothing.
func seedOf(r *recipe.Recipe, defaults Defaults) (seed uint64, ok bool) {
	given := cmp.Or(r.Seed, defaults.Seed)
	if given == nil {
		return 0, false
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.Route))
	return *given ^ hash.Sum64(), true
}

// start sets the time at which the clock is at 0.
func (r *route) start(counts *counts, at time.Time) {
	r.counts = counts
	r.latency = counts.series.latency()
	r.timeline = newTimeline(&r.recipe, at)
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
func (r *route) decide(req Request, now time.Time) response.Response {
	script := r.script.Load()
	phase := r.phaseAt(now)
	chosen := phase.choose(req)
	draws := phase.drawsOf(chosen)
	if chosen == none {
		return r.act(&script.plain, req, &draws, 0, 0, 0)
	}
	b := &script.stages[phase.number-1][chosen]
	wait := b.draw(&draws, r, phase.number, now)
	v := &b.whole
	if b.faulty != nil && b.share.Takes(draws.Uint64()) {
		v = b.faulty
	}
	return r.act(v, req, &draws, phase.number, chosen+1, wait)
}

// act makes the response of a variant and counts it.
func (r *route) act(v *variant, req Request, draws *latency.Draws, stage, branch int, wait time.Duration) response.Response {
	message, tally := v.respond(req, draws)
	tally.hit()
	r.latency.Observe(wait.Seconds())
	return response.Response{
		Message: message,
		Latency: wait,
		Fault:   v.fault,
		Sent:    v.sent,
		Pace:    v.pace,
		Route:   r.recipe.Route,
		Stage:   stage,
		Branch:  branch,
	}
}

// asksForClients reports whether an outcome of a recipe looks at the address of
// the client.
func asksForClients(r *recipe.Recipe) bool {
	for _, stage := range r.Stages {
		for _, o := range stage.Outcomes {
			if o.First != nil && o.First.By != nil && o.First.By.Kind == recipe.ByClientIP {
				return true
			}
		}
	}
	return false
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

// elapsed returns the time since the recipe began, for the last time if it
// loops, and how often it has begun again.
func (t *timeline) elapsed(now time.Time) (elapsed time.Duration, lap int64) {
	elapsed = now.Sub(t.begun)
	if t.period > 0 && elapsed > 0 {
		return elapsed % t.period, int64(elapsed / t.period)
	}
	return elapsed, 0
}

// stage returns the number of the stage in force, counted from 1, and the lap; 0
// is before the first one.
func (t *timeline) stage(now time.Time) (number int, lap int64) {
	elapsed, lap := t.elapsed(now)
	if last := len(t.starts); elapsed >= t.starts[last-1] {
		return last, lap
	}
	next, _ := slices.BinarySearch(t.starts, elapsed+1)
	return next, lap
}

// share returns how far a stage has gone on its way to the next, from 0 to 1.
func (t *timeline) share(stage int, now time.Time) float64 {
	end := t.period
	if stage < len(t.starts) {
		end = t.starts[stage]
	}
	start := t.starts[stage-1]
	elapsed, _ := t.elapsed(now)
	return float64(elapsed-start) / float64(end-start)
}
