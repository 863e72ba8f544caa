// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"
	"slices"
)

// signTest returns the probability that of n fair coins b or more show heads.
// Below the half, where it is never small, it returns 1.
func signTest(b, n int64) float64 {
	if 2*b <= n {
		return 1
	}
	log := logChoose(n, b) - float64(n)*math.Ln2
	sum, term := 1.0, 1.0
	for k := b; k < n && term > sum*1e-17; k++ {
		term *= float64(n-k) / float64(k+1)
		sum += term
	}
	return min(1, math.Exp(log+math.Log(sum)))
}

// fisher returns the probability, in fisher's exact test, of x or more of n
// against the y of m, if both came from one source.
func fisher(x, n, y, m int64) float64 {
	p, both := 0.0, x+y
	all := logChoose(n+m, both)
	for k := x; k <= min(n, both); k++ {
		if both-k <= m {
			p += math.Exp(logChoose(n, k) + logChoose(m, both-k) - all)
		}
	}
	return min(1, p)
}

func logChoose(n, k int64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// discoveries returns the greatest of the probabilities that Benjamini and
// Hochberg's procedure accepts at the rate q of false ones, -1 if none. It
// sorts ps.
func discoveries(ps []float64, q float64) float64 {
	slices.Sort(ps)
	for i, p := range slices.Backward(ps) {
		if p <= q*float64(i+1)/float64(len(ps)) {
			return p
		}
	}
	return -1
}

// z is the 97.5 % quantile of the normal distribution: intervals are of 95 %.
const z = 1.959964

// shareBounds returns Wilson's 95 % interval of a share of a in n.
func shareBounds(a, n int64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	p, size := float64(a)/float64(n), float64(n)
	middle := p + z*z/(2*size)
	half := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return max(0, (middle-half)/(1+z*z/size)), min(1, (middle+half)/(1+z*z/size))
}

// ranks returns between which of n sorted values, counted from 1, the quantile
// p lies at 95 %; 0 and n+1 stand for no bound.
func ranks(n int64, p float64) (low, high int64) {
	middle, half := float64(n)*p, z*math.Sqrt(float64(n)*p*(1-p))
	return max(0, int64(math.Floor(middle-half))), min(n+1, int64(math.Ceil(middle+half)))
}
