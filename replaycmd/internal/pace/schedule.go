// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package pace says when each request is due, and waits for that moment.
package pace

import (
	"math"
	"time"
)

// Schedule gives every request the time at which it is due, counted from the
// start of the run. Each time is computed from the start and never from the
// request before, so that errors don't add up. It is not safe for concurrent
// use. Without a rate and a speed requests are due at once.
type Schedule struct {
	Rate     Rate          // requests per second, if it isn't 0
	Speed    Speed         // else recorded times are divided by this, if it isn't 0
	MinDelay time.Duration // two requests are never due closer together

	count  int64
	origin int64 // recorded time of the first request
	last   time.Duration
}

// Timed says whether requests are due at times, rather than as soon as a
// connection is free.
func (s *Schedule) Timed() bool { return s.Rate > 0 || s.Speed > 0 || s.MinDelay > 0 }

// Next gives the time at which the next request is due. A recorded time that
// is unknown (0) or before its predecessor's stands for its predecessor's.
func (s *Schedule) Next(recorded int64) time.Duration {
	var due time.Duration
	switch {
	case s.Rate > 0:
		due = clamp(float64(s.count) / float64(s.Rate) * float64(time.Second))
	case s.Speed > 0:
		if s.origin == 0 {
			s.origin = recorded
		}
		if recorded > s.origin {
			due = clamp(float64(recorded-s.origin) / float64(s.Speed))
		}
	}
	if s.count > 0 {
		due = max(due, s.last+s.MinDelay)
	}
	s.count++
	s.last = due
	return due
}

// clamp keeps what no run lives to see within the range of a duration.
func clamp(ns float64) time.Duration {
	return time.Duration(math.Min(math.Round(ns), math.MaxInt64/4))
}
