// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"math/rand/v2"
	"sync/atomic"
)

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
