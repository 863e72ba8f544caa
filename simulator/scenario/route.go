// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// route is one recipe that runs.
type route struct {
	recipe   recipe.Recipe
	timeline timeline
	chance   rand.Source

	content atomic.Pointer[content]
	script  atomic.Pointer[script]
	counts  *counts
	latency prometheus.Observer
}

// newRoutes makes the content of recipes, except for what is fetched.
func newRoutes(list recipe.List) ([]*route, error) {
	routes := make([]*route, len(list))
	for i := range list {
		content, err := newContent(&list[i])
		if err != nil {
			return nil, list.At(i, err)
		}
		routes[i] = &route{recipe: list[i], chance: latency.Random()}
		routes[i].content.Store(content)
	}
	return routes, nil
}

// start starts the clock.
func (r *route) start(counts *counts, now time.Time) {
	r.counts = counts
	r.latency = latencySeconds.With(counts.labels)
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
func (r *route) decide(now time.Time) answer.Answer {
	stage := r.timeline.stage(now)
	script := r.script.Load()
	if stage == 0 {
		return r.act(script.plain, 0, 0)
	}
	latency := r.recipe.Stages[stage-1].Latency.Sample(r.chance)
	return r.act(script.stages[stage-1], stage, latency)
}

// act makes the answer of a cue and counts it.
func (r *route) act(c cue, stage int, latency time.Duration) answer.Answer {
	c.tally.hit()
	r.latency.Observe(latency.Seconds())
	return answer.Answer{
		Response: c.response(r.chance),
		Latency:  latency,
		Route:    r.recipe.Route,
		Stage:    stage,
	}
}
