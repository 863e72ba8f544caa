// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule decides when each request is due and hands it then to a free
// connection. It knows neither HTTP nor what a request is.
package schedule

import (
	"math"
	"time"
)

// Schedule decides at which time every request is due, counted from the
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

// Timed reports whether requests are due at times, rather than as soon as a
// connection is free.
func (s *Schedule) Timed() bool { return s.Rate > 0 || s.Speed > 0 || s.MinDelay > 0 }

// String returns the schedule in words: its rate, its speed, or max.
func (s *Schedule) String() string {
	pace := "max"
	switch {
	case s.Rate > 0:
		pace = s.Rate.String()
	case s.Speed > 0:
		pace = s.Speed.String()
	case s.MinDelay > 0:
		return "every " + s.MinDelay.String()
	}
	if s.MinDelay > 0 {
		return pace + ", at least " + s.MinDelay.String() + " apart"
	}
	return pace
}

// PerSecond returns the fixed rate that is asked for, or 0 if there is none. The
// shortest delay bounds it.
func (s *Schedule) PerSecond() float64 {
	if s.MinDelay > 0 && s.Rate > 0 {
		return min(float64(s.Rate), 1/s.MinDelay.Seconds())
	}
	return float64(s.Rate)
}

// Next returns the time at which the next request is due. A recorded time that
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
