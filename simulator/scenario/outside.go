// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
)

// Outside counts the answers that not a recipe decides but something else,
// which has a name of its own in the place of a route.
type Outside struct {
	tally   *tally
	latency prometheus.Observer
}

// Outside gives what counts answers of a name and status. Who asks for the
// same name again, as the next configuration does, counts on.
func (s *Scenario) Outside(name string, status int) *Outside {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.outside[name]
	if !ok {
		c = newCounts(s.name, name)
		s.outside[name] = c
	}
	return &Outside{c.of(status), latencySeconds.With(c.labels)}
}

// Count counts an answer.
func (o *Outside) Count(latency time.Duration) {
	o.tally.hit()
	o.latency.Observe(latency.Seconds())
}

// Unmatched answers a request that nothing takes, with a text that says so.
func (s *Scenario) Unmatched(text string) answer.Answer {
	s.unset.of(http.StatusNotFound).hit()
	return answer.Answer{Response: answer.NewText(http.StatusNotFound, text)}
}
