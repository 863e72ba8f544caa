// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"errors"
	"fmt"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Validate checks what a stage says, and whether it goes together. The error
// names the field at fault.
func (s *Stage) Validate() error {
	if s.Status < 200 || s.Status > 999 {
		return in("status", fmt.Errorf("%d is not the status of an answer: expected 200 to 999", s.Status))
	}
	if s.Body != nil {
		if err := checkBody(*s.Body); err != nil {
			return in("body", err)
		}
	}
	if err := s.Headers.validate(); err != nil {
		return in("headers", err)
	}
	if s.Headers.Get("Content-Encoding") != "" {
		return in("headers.content-encoding", errors.New("is for the whole recipe to say"))
	}
	return s.checkTogether()
}

// checkTogether refuses what could never be seen.
func (s *Stage) checkTogether() error {
	given := s.aboutTheBody()
	if s.Fault != nil && s.Fault.Always() {
		if s.Fault.Kind != response.Malformed && s.Headers != nil {
			given = append(given, "headers")
		}
		if len(given) > 0 {
			return in(given[0], fmt.Errorf("is never seen, as every answer has the fault %s", s.Fault.Kind))
		}
	}
	if s.Bandwidth > 0 && s.Dribble != nil {
		return in("dribble", errors.New("the stage has a bandwidth already"))
	}
	if len(given) > 0 && !response.HasBody(s.Status) {
		return in(given[0], fmt.Errorf("status %d has no body", s.Status))
	}
	return nil
}

// aboutTheBody gives the fields that say something of the body.
func (s *Stage) aboutTheBody() (given []string) {
	if s.Body != nil {
		given = append(given, "body")
	}
	if s.Bandwidth > 0 {
		given = append(given, "bandwidth")
	}
	if s.Dribble != nil {
		given = append(given, "dribble")
	}
	return given
}

// checkRamps wants a latency that a ramp can lead to.
func (r *Recipe) checkRamps() error {
	if last := len(r.Stages) - 1; r.Stages[last].Ramp && r.Loop == nil {
		return in(index(last)+".ramp", errors.New("no stage comes after"))
	}
	return nil
}
