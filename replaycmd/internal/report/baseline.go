// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// Baseline is what a report has of an earlier run beside which it is judged.
type Baseline struct {
	Started time.Time        `json:"started"`
	Run     Run              `json:"run"`
	Targets []BaselineTarget `json:"targets"`
}

// BaselineTarget is what became of the requests to one target of the earlier run.
type BaselineTarget struct {
	Name     string  `json:"name"`
	URL      string  `json:"url"`
	Requests int64   `json:"requests"`
	Answers  int64   `json:"answers"`
	Errors   int64   `json:"errors"`
	Latency  Latency `json:"latency"`
	Service  Latency `json:"service"`
}

// SetBaseline adds an earlier report, beside which this one is judged.
func (r *Report) SetBaseline(old *Report) {
	b := &Baseline{Started: old.Started, Run: old.Run, Targets: []BaselineTarget{}}
	for _, t := range old.Targets {
		b.Targets = append(b.Targets, BaselineTarget{t.Name, t.URL, t.Requests, t.Answers, t.Errors, t.Latency, t.Service})
	}
	r.Baseline = b
}

// baseline returns the earlier run's target of a name, or its only one beside the
// only one of this run; nil if there is none.
func (r *Report) baseline(target string) *BaselineTarget {
	if r.Baseline == nil {
		return nil
	}
	for i := range r.Baseline.Targets {
		if t := &r.Baseline.Targets[i]; t.Name == target {
			return t
		}
	}
	if len(r.Baseline.Targets) == 1 && len(r.Targets) == 1 {
		return &r.Baseline.Targets[0]
	}
	return nil
}

// judgeBaseline returns whether a percentile of a target's service time is within
// so many times the baseline's. As with `x old` it fails only where the lower
// bound of the one exceeds that many times the upper bound of the other, and what
// is unknown does not hold.
func (c Condition) judgeBaseline(r *Report, t *Target) Check {
	check := Check{Condition: c.text, Target: t.Name}
	old := r.baseline(t.Name)
	if old == nil {
		check.Value = "unknown, as the baseline has no such target"
		return check
	}
	p, _ := percentile(c.figure)
	low, _, known := t.Service.interval(p)
	_, high, oldKnown := old.Service.interval(p)
	if !known || !oldKnown || high <= 0 {
		check.Value = fmt.Sprintf("unknown, as %s beside %s are too few", plural(t.Service.Count, "answer"), count(old.Service.Count))
		return check
	}
	ratio := float64(low) / float64(high)
	check.Value = fmt.Sprintf("at least %sx baseline", strconv.FormatFloat(ratio, 'f', 2, 64))
	check.OK = c.holds(ratio, c.limit)
	return check
}

// besideBaseline returns the service times of both runs in a sentence, empty if
// there is nothing to set them beside.
func (r *Report) besideBaseline(t *Target) string {
	old := r.baseline(t.Name)
	if old == nil || old.Service.Count == 0 || t.Service.Count == 0 {
		return ""
	}
	return fmt.Sprintf("service time p50 %s → %s, p99 %s → %s",
		duration(old.Service.P50MS), duration(t.Service.P50MS), duration(old.Service.P99MS), duration(t.Service.P99MS))
}

// writeBaseline writes each target beside the baseline as text.
func (r *Report) writeBaseline(w io.Writer) error {
	if r.Baseline == nil {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\nbeside the baseline of %s\n", r.Baseline.Started.UTC().Format(time.RFC3339)); err != nil {
		return err
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		text := r.besideBaseline(t)
		if text == "" {
			text = "nothing to set it beside"
		}
		if _, err := fmt.Fprintf(w, "  %s: %s\n", shorten(Escape(t.Name)), text); err != nil {
			return err
		}
	}
	return nil
}
