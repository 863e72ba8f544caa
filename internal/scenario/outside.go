// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Outside counts the responses that not a recipe decides but something else,
// which has a name of its own in the place of a route.
type Outside struct {
	scenario *Scenario
	name     string
	counts   *counts
	tally    *tally
	latency  prometheus.Observer
}

// outsider is a name, and how often it was asked for and not released.
type outsider struct {
	*counts
	uses int
}

// Outside returns what counts responses of a name and status, until it is released.
// Who asks for the same name before that, as the next configuration does, counts
// on.
func (s *Scenario) Outside(name string, status int) *Outside {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.outside[name]
	if !ok {
		o = &outsider{counts: newCounts(s.seriesOf(name))}
		s.outside[name] = o
	}
	o.uses++
	return &Outside{s, name, o.counts, o.of(status, 0), o.series.latency()}
}

// Release ends, once, the counting by this name. With its
// last user the name is forgotten, but not what was counted.
func (o *Outside) Release() {
	s := o.scenario
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.outside[o.name]
	if known.uses--; known.uses == 0 {
		s.former.add(known.byStatus())
		known.release()
		delete(s.outside, o.name)
	}
}

// Count counts a response.
func (o *Outside) Count(latency time.Duration) {
	o.tally.hit()
	o.latency.Observe(latency.Seconds())
}

// CountAs counts a response whose status is known only now.
func (o *Outside) CountAs(status int, latency time.Duration) {
	o.counts.of(status, 0).hit()
	o.latency.Observe(latency.Seconds())
}

// HasOutsiders sets whether the scenario shows what requests get that nothing
// takes: what Unmatched responds, if something else than recipes may take
// requests, and what NotSet does otherwise.
func (s *Scenario) HasOutsiders(has bool) { s.outsiders.Store(has) }

// PassOn sets the upstream that the scenario shows for requests that nothing
// takes. Without one they are answered here.
func (s *Scenario) PassOn(upstream string) { s.passedTo.Store(&upstream) }

// PassedOn counts a request that nothing took, by the status which the upstream
// responded.
func (s *Scenario) PassedOn(status int) { s.unset.of(status, 0).hit() }

// unmatchedStatus is the status where neither a recipe nor anything else
// holds.
const unmatchedStatus = http.StatusNotFound

// Unmatched returns the response to a request that nothing takes, with a text
// that says so.
func (s *Scenario) Unmatched(text string) response.Response {
	s.unset.of(unmatchedStatus, 0).hit()
	return response.Response{Message: response.NewText(unmatchedStatus, text)}
}

// notSetStatus is the status where no recipe holds.
const notSetStatus = http.StatusNotAcceptable

// NotSet returns the text of the response where there is no recipe at all.
func NotSet(postTo string) string { return "Recipe not set, please POST a recipe to " + postTo }

// NotSet returns the response to a request that no route takes, with a hint
// where a recipe can be posted.
func (s *Scenario) NotSet(path, postTo string) response.Response {
	s.unset.of(notSetStatus, 0).hit()
	text := "Recipe not set at " + path + ", please POST a recipe for this route to " + postTo
	return response.Response{Message: response.NewText(notSetStatus, text)}
}
