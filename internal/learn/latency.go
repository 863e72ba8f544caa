// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
)

// percentiles are those that a latency has, if there are so many observations
// beyond each.
var percentiles = []float64{50, 75, 90, 99, 99.9}

const beyond = 10

// latencyOf returns, in the simulator's words, how long answers took: their
// percentiles, or what fewer observations allow.
func latencyOf(took []int64, speed float64) string {
	slices.Sort(took)
	n := len(took)
	if n == 0 {
		return "0"
	}
	at := func(percent float64) time.Duration {
		i := min(n-1, int(math.Ceil(percent/100*float64(n)))-1)
		return rounded(float64(took[max(i, 0)]) / speed)
	}
	var lines []string
	for _, percent := range percentiles {
		if float64(n)*(100-percent)/100 >= beyond-1e-9 {
			lines = append(lines, "p"+strconv.FormatFloat(percent, 'f', -1, 64)+"="+durationText(at(percent)))
		}
	}
	if len(lines) > 1 {
		return strings.Join(lines, ",")
	}
	if sigma := spread(took); n >= 2*beyond && sigma > 0.01 {
		return fmt.Sprintf("lognormal(%s,%s)", durationText(at(50)), strconv.FormatFloat(sigma, 'g', 2, 64))
	}
	return durationText(at(50))
}

// spread returns the deviation of the logarithms.
func spread(took []int64) float64 {
	sum, sum2 := 0.0, 0.0
	for _, ns := range took {
		log := math.Log(float64(max(ns, 1)))
		sum, sum2 = sum+log, sum2+log*log
	}
	n := float64(len(took))
	return math.Sqrt(max(0, sum2/n-sum/n*sum/n))
}

// rounded returns nanoseconds with three digits, at least a microsecond.
func rounded(ns float64) time.Duration {
	if ns < 1000 {
		return time.Microsecond
	}
	unit := math.Pow(10, math.Floor(math.Log10(ns))-2)
	return time.Duration(math.Round(ns/unit) * unit)
}

func durationText(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "0s"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// lognormalOf returns the lognormal distribution, its median in milliseconds,
// that comes closest to a latency.
func lognormalOf(text string) (median, sigma float64, ok bool) {
	l, err := latency.Parse(text)
	if err != nil || l.IsZero() {
		return 0, 0, false
	}
	at := func(share float64) float64 { return float64(l.Draw(uint64(share*(1<<53)) << 11)) }
	middle, high := at(0.5), at(0.9)
	const score90 = 1.2816
	return math.Round(middle/1e3) / 1e3, math.Round(1e3*math.Log(max(high, middle)/middle)/score90) / 1e3, middle > 0
}

// Distance returns the Kolmogorov–Smirnov distance between how long the answers
// of a route took and what the model says of it: the greatest difference between
// the shares of both that are below any time.
func (l *Learner) Distance(m *Model, r *Route, o Options) float64 {
	var seen *observed
	for _, candidate := range l.routes {
		if shape(candidate.kind.pattern) == (shape{r.Method, r.Path}) && candidate.variant == r.joined() {
			seen = candidate
		}
	}
	if seen == nil || len(seen.all) == 0 {
		return 0
	}
	took := make([]float64, 0, len(seen.all))
	for _, observation := range seen.all {
		if seen.answers[observation.answer].fault != "hang" {
			took = append(took, float64(observation.took)/o.Speed)
		}
	}
	var drawn []float64
	for _, s := range r.Stages {
		for i := range s.Outcomes {
			form, err := latency.Parse(s.Outcomes[i].Latency)
			if err != nil || strings.HasPrefix(s.Outcomes[i].Fault, "hang") {
				continue
			}
			n := s.Outcomes[i].N
			for j := range n { // spread evenly, as many as there were
				drawn = append(drawn, float64(form.Draw(uint64((float64(j)+0.5)/float64(n)*(1<<53))<<11)))
			}
		}
	}
	return distance(took, drawn)
}

func distance(a, b []float64) (most float64) {
	slices.Sort(a)
	slices.Sort(b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] <= x {
			i++
		}
		for j < len(b) && b[j] <= x {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}
