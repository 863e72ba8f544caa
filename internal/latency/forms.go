// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// unlimited is the limit of what has none: the longest duration there is.
const unlimited = math.MaxInt64

type fixed time.Duration

func (f fixed) quantile(float64) float64 { return float64(f) }

func newRange(lower, upper time.Duration) (Latency, error) {
	switch {
	case lower < 0:
		return Latency{}, fmt.Errorf("lower %s is negative", lower)
	case lower > upper:
		return Latency{}, fmt.Errorf("lower %s is above upper %s", lower, upper)
	case lower == upper:
		return Fixed(lower), nil
	}
	return Latency{spread{float64(lower), float64(upper)}}, nil
}

// spread is the uniform distribution over a range.
type spread struct{ lower, upper float64 }

func (s spread) quantile(u float64) float64 { return s.lower + u*(s.upper-s.lower) }

func newLognormal(median time.Duration, sigma float64, limit time.Duration) (Latency, error) {
	switch {
	case median <= 0:
		return Latency{}, fmt.Errorf("median %s is not above 0", median)
	case !(sigma >= 0) || math.IsInf(sigma, 1):
		return Latency{}, fmt.Errorf("sigma %v is negative or not a number", sigma)
	case limit < 0:
		return Latency{}, fmt.Errorf("cap %s is negative", limit)
	case limit > 0 && median > limit:
		return Latency{}, fmt.Errorf("median %s is above the cap %s", median, limit)
	case sigma == 0:
		return Fixed(median), nil
	}
	if limit == 0 {
		return Latency{lognormal{float64(median), sigma, unlimited, 1}}, nil
	}
	below := normalShare(math.Log(float64(limit)/float64(median)) / sigma)
	return Latency{lognormal{float64(median), sigma, float64(limit), below}}, nil
}

// lognormal is a distribution whose logarithm is a normal one.
type lognormal struct {
	median, sigma float64
	limit         float64
	below         float64 // the share of the whole distribution that the limit leaves
}

// quantile looks only at what lies below the limit: that is the distribution
// of draws which are repeated for as long as they are above it.
func (l lognormal) quantile(u float64) float64 {
	return min(l.median*math.Exp(l.sigma*normalScore(u*l.below)), l.limit)
}

func newNormal(mean, deviation time.Duration) (Latency, error) {
	switch {
	case mean < 0:
		return Latency{}, fmt.Errorf("mean %s is negative", mean)
	case deviation < 0:
		return Latency{}, fmt.Errorf("standard deviation %s is negative", deviation)
	case deviation == 0:
		return Fixed(mean), nil
	case mean == 0:
		return Latency{}, errors.New("mean is 0: half of the draws would be below 0")
	}
	return Latency{normal{float64(mean), float64(deviation)}}, nil
}

// normal is the bell curve.
type normal struct{ mean, deviation float64 }

func (n normal) quantile(u float64) float64 {
	return max(0, n.mean+n.deviation*normalScore(u))
}

// normalScore is the quantile function of the standard normal distribution.
func normalScore(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }

// normalShare is the inverse: the share of the distribution below a score.
func normalShare(score float64) float64 { return math.Erfc(-score/math.Sqrt2) / 2 }
