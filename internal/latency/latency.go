// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package latency is how long a response takes: a fixed time or a distribution,
// its forms as text and JSON, and drawing from it.
//
// Every form is drawn by its quantile function from one uniform number. So a
// draw costs the same whatever the form, a cap never loops, and two latencies
// drawn with the same number can be mixed.
package latency

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Latency is how long a response takes. The zero value is no time at all.
//
// As text it has one of these forms; times are Go durations, `0` needs no unit:
//
//	0  50ms  1.5s                      always the same
//	100ms..200ms                       evenly spread over a range
//	lognormal(70ms,0.3)                median and sigma
//	lognormal(70ms,0.3,2s)             the same, never above a cap: what is above is drawn again
//	normal(80ms,10ms)                  mean and standard deviation; what is below 0 is 0
//	p50=20ms,p90=80ms,p99=300ms        a table of percentiles; p0 and p100 are bounds
//
// JSON holds that text, a plain number of milliseconds, or one of WireMock's
// delay distributions (objects of type fixed, uniform or lognormal).
//
// A Latency never changes, so any number of goroutines may share it.
type Latency struct {
	form form
}

// form is one kind of latency.
type form interface {
	// quantile returns, in nanoseconds, the latency that the share u of all
	// draws stays below; u is above 0 and below 1.
	quantile(u float64) float64
	// String returns the text that Parse reads.
	String() string
}

// Fixed returns a latency that is always the same; what is negative counts as 0.
func Fixed(d time.Duration) Latency {
	if d <= 0 {
		return Latency{}
	}
	return Latency{fixed(d)}
}

// IsZero reports whether every draw is 0.
func (l Latency) IsZero() bool { return l.form == nil }

// Sample draws a latency.
func (l Latency) Sample(source rand.Source) time.Duration {
	switch f := l.form.(type) {
	case nil:
		return 0
	case fixed:
		return time.Duration(f)
	}
	return l.Draw(source.Uint64())
}

// Draw returns the latency that 64 random bits stand for.
func (l Latency) Draw(bits uint64) time.Duration { return duration(l.quantile(uniform(bits))) }

// DrawBetween returns the latency that 64 random bits stand for on the way from
// one to another: at share 0 it is the first, at 1 the second, in between every
// percentile moves in a straight line. A share outside of 0 and 1 counts as the
// nearer of them.
func DrawBetween(from, to Latency, share float64, bits uint64) time.Duration {
	share = min(max(share, 0), 1)
	u := uniform(bits)
	return duration((1-share)*from.quantile(u) + share*to.quantile(u))
}

func (l Latency) quantile(u float64) float64 {
	if l.form == nil {
		return 0
	}
	return l.form.quantile(u)
}

// uniform makes a number above 0 and below 1 of 64 random bits.
func uniform(random uint64) float64 {
	const bits = 52 // one less than a float64 holds, so that the half below is kept
	return (float64(random>>(64-bits)) + 0.5) / (1 << bits)
}

// duration rounds nanoseconds and keeps them within what a Duration holds.
func duration(ns float64) time.Duration {
	switch {
	case ns >= unlimited:
		return math.MaxInt64
	case ns > 0:
		return time.Duration(math.Round(ns))
	}
	return 0
}

// Random returns the runtime's own source: every run differs. Any number of
// goroutines may draw from it without waiting for one another.
func Random() rand.Source { return runtimeSource{} }

type runtimeSource struct{}

func (runtimeSource) Uint64() uint64 { return rand.Uint64() }

// Seeded returns a source of the same numbers in every run. Any number of
// goroutines may draw from it without waiting for one another; which of them
// gets which number is up to them.
func Seeded(seed uint64) rand.Source {
	s := new(seededSource)
	s.counter.Store(mix(seed))
	return s
}

// seededSource is SplitMix64: a counter that steps by the golden ratio, whose
// every value is mixed by itself.
type seededSource struct{ counter atomic.Uint64 }

const goldenRatio = 0x9e3779b97f4a7c15

func (s *seededSource) Uint64() uint64 { return mix(s.counter.Add(goldenRatio)) }

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Draws are the random numbers of one decision. The zero value is the runtime's:
// every run differs.
type Draws struct {
	state  uint64
	seeded bool
}

// DrawsOf returns those of the decision with a number: the same in every run,
// whatever goroutines decide at the same time.
func DrawsOf(seed, number uint64) Draws { return Draws{mix(mix(seed) + number*goldenRatio), true} }

// Uint64 returns the next one.
func (d *Draws) Uint64() uint64 {
	if !d.seeded {
		return rand.Uint64()
	}
	d.state += goldenRatio
	return mix(d.state)
}
