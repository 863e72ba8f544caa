// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Outside counts the answers that not a recipe decides but something else,
// which has a name of its own in the place of a route.
type Outside struct {
	scenario *Scenario
	name     string
	tally    *tally
	latency  prometheus.Observer
}

// outsider is a name, and how often it was asked for and not released.
type outsider struct {
	*counts
	uses int
}

// Outside gives what counts answers of a name and status, until it is released.
// Who asks for the same name before that, as the next configuration does, counts
// on.
func (s *Scenario) Outside(name string, status int) *Outside {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.outside[name]
	if !ok {
		o = &outsider{counts: newCounts(s.name, name)}
		s.outside[name] = o
	}
	o.uses++
	return &Outside{s, name, o.of(status), o.series.latency()}
}

// Release tells, once, that nothing is decided by this name any more. With its
// last user the name is forgotten, but not that there were answers.
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

// Count counts an answer.
func (o *Outside) Count(latency time.Duration) {
	o.tally.hit()
	o.latency.Observe(latency.Seconds())
}

// unmatchedStatus is what is answered where neither a recipe nor anything else
// holds.
const unmatchedStatus = http.StatusNotFound

// Unmatched answers a request that nothing takes, with a text that says so.
func (s *Scenario) Unmatched(text string) response.Response {
	s.unset.of(unmatchedStatus).hit()
	return response.Response{Message: response.NewText(unmatchedStatus, text)}
}
