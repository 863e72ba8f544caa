// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// percentile is a line of a table: so many percent of the draws stay below.
type percentile struct {
	percent float64
	latency time.Duration
}

func (p percentile) String() string {
	return "p" + strconv.FormatFloat(p.percent, 'f', -1, 64) + "=" + durationText(p.latency)
}

// newPercentiles makes a curve that goes through every given percentile.
func newPercentiles(given []percentile) (Latency, error) {
	t := table{given: given, highest: unlimited}
	for i, p := range given {
		if i > 0 && p.percent <= given[i-1].percent {
			return Latency{}, fmt.Errorf("%s comes after %s: percentages have to rise", p, given[i-1])
		}
		if i > 0 && p.latency < given[i-1].latency {
			return Latency{}, fmt.Errorf("%s is less than %s", p, given[i-1])
		}
		ns := float64(p.latency)
		switch {
		case p.percent == 0 && p.latency >= 0:
			t.lowest = ns
		case p.latency <= 0:
			return Latency{}, fmt.Errorf("%s is not above 0", p)
		case p.percent == 100:
			t.highest = ns
		default:
			t.knots = append(t.knots, knot{normalScore(p.percent / 100), math.Log(ns)})
		}
	}
	if len(t.knots) < 2 {
		return Latency{}, errors.New("a table of percentiles needs at least two between p0 and p100")
	}
	return Latency{&t}, nil
}

// table is a distribution through given percentiles. Between two of them it is
// the lognormal curve through both: a straight line from normal score to
// logarithm. The first and last line go on beyond the outer percentiles, up to
// the bounds that p0 and p100 give.
type table struct {
	given           []percentile
	knots           []knot
	lowest, highest float64
}

type knot struct{ score, log float64 }

func (t *table) quantile(u float64) float64 {
	score := normalScore(u)
	i := 1
	for i < len(t.knots)-1 && score > t.knots[i].score {
		i++
	}
	a, b := t.knots[i-1], t.knots[i]
	log := a.log + (score-a.score)*(b.log-a.log)/(b.score-a.score)
	return min(max(math.Exp(log), t.lowest), t.highest)
}

func (t *table) String() string {
	lines := make([]string, len(t.given))
	for i, p := range t.given {
		lines[i] = p.String()
	}
	return strings.Join(lines, ",")
}
