// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package measure counts what became of requests: in memory that does not grow
// with them, and without a lock that senders would wait for one another at.
package measure

import (
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// Sample is what became of one request. Times are counted from the start of
// the run.
type Sample struct {
	Due     time.Duration // when it was to start; without a schedule, when it did
	Started time.Duration // when it started
	Ended   time.Duration // when its answer was complete, or failed
	Status  int           // of the answer; 0: none came
	Kind    send.Kind     // why none came
	Class   int           // by what the run is told apart; -1: not at all

	Sent, Received int64 // bytes
	Truncated      bool  // only the beginning of the body was sent
}

// Latency is the time from when the request was due to the end of its answer.
func (s *Sample) Latency() time.Duration { return s.Ended - s.Due }

// Service is the time from when the request started to the end of its answer.
func (s *Sample) Service() time.Duration { return s.Ended - s.Started }

// Lateness is how long after it was due the request started.
func (s *Sample) Lateness() time.Duration { return s.Started - s.Due }

// batch is how many samples a sender keeps before it hands them over.
const batch = 64

// Sender takes the samples of one connection.
type Sender struct {
	mu      sync.Mutex // contended only by Target.collect
	target  *Target
	samples []Sample
}

// Add takes one sample.
func (s *Sender) Add(sample Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, sample)
	if len(s.samples) == batch {
		s.handOver()
	}
}

// handOver gives the samples to the target. The sender is locked.
func (s *Sender) handOver() {
	s.target.mu.Lock()
	defer s.target.mu.Unlock()
	for i := range s.samples {
		s.target.totals.add(&s.samples[i])
	}
	s.samples = s.samples[:0]
}
