// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"time"
)

const (
	shortestStage = 30 * time.Second
	maxBins       = 7200
	maxStages     = 20

	leastEvidence = 30.0 // of a change, as the logarithm of a ratio of likelihoods
	leastErrors   = 0.02 // by which the share of errors has to change, or
	leastSlower   = 0.15 // the logarithm of the latency
	steady        = 0.05 // deviation of that logarithm below which noise is not looked at
)

// bins are what happened in equal spans of time, added up from the beginning.
type bins struct {
	width            time.Duration
	n, errors        []float64
	timed, log, log2 []float64 // of answers that are no errors: how many, their logarithms and squares
}

// newBins counts observations that lie within a span from a moment on.
func newBins(all []observation, failed func(int32) bool, from int64, span time.Duration) *bins {
	width := max(time.Second, (span/maxBins + time.Second - 1).Truncate(time.Second))
	count := int(span/width) + 1
	b := &bins{
		width: width, n: make([]float64, count+1), errors: make([]float64, count+1),
		timed: make([]float64, count+1), log: make([]float64, count+1), log2: make([]float64, count+1),
	}
	for _, o := range all {
		i := int(time.Duration(o.at-from)/width) + 1
		if i < 1 || i > count {
			continue
		}
		b.n[i]++
		if failed(o.answer) {
			b.errors[i]++
			continue
		}
		log := math.Log(float64(max(o.took, 1)))
		b.timed[i]++
		b.log[i] += log
		b.log2[i] += log * log
	}
	for _, sums := range [][]float64{b.n, b.errors, b.timed, b.log, b.log2} {
		for i := 1; i < len(sums); i++ {
			sums[i] += sums[i-1]
		}
	}
	return b
}

func (b *bins) len() int { return len(b.n) - 1 }

// shortest returns how many bins a stage has at least.
func (b *bins) shortest() int { return int((shortestStage + b.width - 1) / b.width) }

// likelihood returns how well one share of errors and one distribution of
// latency explain what happened between two moments, as a logarithm.
func (b *bins) likelihood(from, to int) float64 {
	n, k := b.n[to]-b.n[from], b.errors[to]-b.errors[from]
	sum := 0.0
	if k > 0 && k < n {
		sum = k*math.Log(k/n) + (n-k)*math.Log(1-k/n)
	}
	if m := b.timed[to] - b.timed[from]; m > 0 {
		mean := (b.log[to] - b.log[from]) / m
		variance := max((b.log2[to]-b.log2[from])/m-mean*mean, steady*steady)
		sum -= m / 2 * math.Log(variance)
	}
	return sum
}

// split returns where a span is best divided in two, and how much better two
// explain it than one.
func (b *bins) split(from, to int) (at int, gain float64) {
	whole, least := b.likelihood(from, to), b.shortest()
	for i := from + least; i <= to-least; i++ {
		if better := b.likelihood(from, i) + b.likelihood(i, to) - whole; better > gain {
			at, gain = i, better
		}
	}
	return at, gain
}

// differ reports whether two neighbouring spans differ by enough to matter.
func (b *bins) differ(from, at, to int) bool {
	share := func(from, to int) float64 { return (b.errors[to] - b.errors[from]) / max(1, b.n[to]-b.n[from]) }
	mean := func(from, to int) float64 { return (b.log[to] - b.log[from]) / max(1, b.timed[to]-b.timed[from]) }
	if math.Abs(share(from, at)-share(at, to)) >= leastErrors {
		return true
	}
	both := b.timed[at]-b.timed[from] > 0 && b.timed[to]-b.timed[at] > 0
	return both && math.Abs(mean(from, at)-mean(at, to)) >= leastSlower
}

// changes returns when the share of errors or the latency changed: moments after
// the begin, ascending.
func (b *bins) changes() []time.Duration {
	cuts := []int{0, b.len()}
	for len(cuts) <= maxStages {
		best, where, most := 0, 0, leastEvidence
		for i := 1; i < len(cuts); i++ {
			if at, gain := b.split(cuts[i-1], cuts[i]); gain > most {
				best, where, most = at, i, gain
			}
		}
		if best == 0 {
			break
		}
		cuts = append(cuts[:where], append([]int{best}, cuts[where:]...)...)
	}
	for range 3 { // a cut that was made early is better placed between its neighbours
		for i := 1; i < len(cuts)-1; i++ {
			if at, gain := b.split(cuts[i-1], cuts[i+1]); gain > 0 {
				cuts[i] = at
			}
		}
	}
	var changes []time.Duration
	before := 0
	for i := 1; i < len(cuts)-1; i++ {
		if b.differ(before, cuts[i], cuts[i+1]) {
			changes = append(changes, time.Duration(cuts[i])*b.width)
			before = cuts[i]
		}
	}
	return changes
}
