// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule decides when each request is due and hands it then to a free
// connection. It knows neither HTTP nor what a request is.
package schedule

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// Schedule decides at which time every request is due, counted from the
// start of the run. Each time is computed from the start and never from the
// request before, so that errors don't add up. It is not safe for concurrent
// use. Without a rate and a speed requests are due at once.
type Schedule struct {
	Rate     Shape         // requests per second, if it is given
	Speed    Speed         // else recorded times are divided by this, if it isn't 0
	MinDelay time.Duration // two requests are never due closer together

	// Poisson makes requests at a rate come by chance, as those of many users who
	// know nothing of one another. Seed is where chance begins.
	Poisson bool
	Seed    uint64

	// Warmup comes before all else, at the first rate that there is.
	Warmup time.Duration

	count    int64
	origin   int64 // recorded time of the first request
	last     time.Duration
	arrivals float64 // requests at the rate that were due until now, with Poisson
	chance   *rand.Rand
}

// ErrElsewhere is the error of a Run's Next for a request that another run sends.
var ErrElsewhere = errors.New("another run sends it")

// Timed reports whether requests are due at times, rather than as soon as a
// connection is free.
func (s *Schedule) Timed() bool { return s.Rate.Given() || s.Speed > 0 || s.MinDelay > 0 }

// String returns the schedule in words: its rate, its speed, or max.
func (s *Schedule) String() string {
	pace := "max"
	switch {
	case s.Rate.Given():
		pace = s.Rate.String()
	case s.Speed > 0:
		pace = s.Speed.String()
	case s.MinDelay > 0:
		return "every " + s.MinDelay.String()
	}
	if s.Poisson {
		pace += ", poisson"
	}
	if s.MinDelay > 0 {
		pace += ", at least " + s.MinDelay.String() + " apart"
	}
	return pace
}

// PerSecond returns the mean rate that is asked for within a time, or in all for
// 0; it is 0 if there is none. The shortest delay bounds it.
func (s *Schedule) PerSecond(within time.Duration) float64 {
	mean := s.Rate.Mean(within)
	if s.MinDelay > 0 {
		return min(mean, 1/s.MinDelay.Seconds())
	}
	return mean
}

// Next returns the time at which the next request is due. A recorded time that
// is unknown (0) or before its predecessor's stands for its predecessor's. Behind
// the end of a rate it is later than any run ends.
func (s *Schedule) Next(recorded int64) time.Duration {
	var due time.Duration
	switch {
	case s.Rate.Given():
		due = s.atRate()
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

// atRate returns when the next request is due by the rate.
func (s *Schedule) atRate() time.Duration {
	n := float64(s.count)
	if s.Poisson {
		if s.chance == nil {
			s.chance = rand.New(rand.NewPCG(s.Seed, 0)) //nolint:gosec // no secret
		}
		s.arrivals += s.chance.ExpFloat64()
		n = s.arrivals
	}
	if s.Warmup > 0 {
		first := s.Rate.First()
		warm := first * s.Warmup.Seconds()
		if n < warm {
			return clamp(n / first * float64(time.Second))
		}
		n -= warm
	}
	due, within := s.Rate.Due(n)
	if !within {
		return math.MaxInt64 / 4
	}
	return s.Warmup + due
}

// clamp keeps what is later than any run ends within the range of a duration.
func clamp(ns float64) time.Duration {
	return time.Duration(math.Min(math.Round(ns), math.MaxInt64/8))
}
