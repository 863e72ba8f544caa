// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package sampling decides which requests belong to a share of them.
package sampling

import (
	"math"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// goldenRatio is the fractional part of the golden ratio in units of 2^-64.
const goldenRatio = 0x9E3779B97F4A7C15

// Share takes a share of what it is asked about.
//
// Multiples of the golden ratio fill the unit interval more evenly than chance
// does, so every stretch of n requests has its share of n to within a few
// requests. Unlike every tenth request, the ones taken follow no period that
// the traffic could have as well.
type Share struct {
	below    uint64
	all      bool
	position atomic.Uint64
}

// NewShare makes a share from a percentage within 0 and 100.
func NewShare(percent float64) *Share {
	return &Share{
		below: uint64(percent / 100 * math.MaxUint64 * (1 - 0x1p-53)),
		all:   percent >= 100,
	}
}

// Next tells whether the next request is taken.
func (s *Share) Next() bool {
	if s.all {
		return true
	}
	return s.below > 0 && s.position.Add(goldenRatio) < s.below
}

// Key tells whether what has this key is taken: always the same for the same
// key and share, on every machine and after every restart. What a smaller
// share takes, a larger one takes as well.
func (s *Share) Key(key string) bool {
	return s.all || xxhash.Sum64String(key) < s.below
}
