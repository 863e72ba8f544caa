// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// fewForP99 is how many answers a p99 needs to be more than the slowest few.
const fewForP99 = 100

// insights returns in sentences what a reader looks for first: which target is
// slower and where, and whether the measurement itself was held up.
func (r *Report) insights() (all []string) {
	if s := r.slowest(); s != "" {
		all = append(all, s)
	}
	for i := range min(len(r.Targets), maxTargets) {
		if s := r.besideBaseline(&r.Targets[i]); s != "" {
			all = append(all, label(r.Targets[i].Name)+" beside the baseline: "+s)
		}
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		all = append(all, fmt.Sprintf("%s beside %s: %s", label(c.Target), label(c.Old), c.summary(r.rows(c.Target))))
	}
	for i := range min(len(r.Targets), maxTargets) {
		t := &r.Targets[i]
		for _, s := range []string{t.slowestClass(), t.worstMoment(), t.heldUp()} {
			if s != "" {
				all = append(all, label(t.Name)+": "+s)
			}
		}
	}
	return all
}

// figure returns the percentile that enough answers of all targets are known for.
func (r *Report) figure() (name string, percent float64) {
	for _, t := range r.Targets {
		if t.Latency.Count > 0 && t.Latency.Count < fewForP99 {
			return "median", 50
		}
	}
	return "p99", 99
}

// slowest returns which target is the slowest, and by how much.
func (r *Report) slowest() string {
	name, percent := r.figure()
	answered := make([]*Target, 0, len(r.Targets))
	for i := range r.Targets {
		if r.Targets[i].Latency.Count > 0 {
			answered = append(answered, &r.Targets[i])
		}
	}
	if len(answered) < 2 {
		return ""
	}
	slices.SortStableFunc(answered, func(a, b *Target) int { return cmp.Compare(b.Latency.At(percent), a.Latency.At(percent)) })
	first, last := answered[0], answered[len(answered)-1]
	slow, fast := ms(first.Latency.At(percent)), ms(last.Latency.At(percent))
	if fast <= 0 || slow/fast < 1.05 {
		return fmt.Sprintf("no target is slower than another: %s %s to %s", name, duration(fast), duration(slow))
	}
	return fmt.Sprintf("%s is the slowest: its %s is %s, %s × that of %s, %s",
		label(first.Name), name, duration(slow), strconv.FormatFloat(slow/fast, 'f', 1, 64), label(last.Name), duration(fast))
}

// slowestClass returns in which class of a target's requests its time goes.
func (t *Target) slowestClass() string {
	var worst *Class
	for i := range t.By {
		if c := &t.By[i]; c.Latency.Count > 0 && (worst == nil || c.Latency.P99MS > worst.Latency.P99MS) {
			worst = c
		}
	}
	if worst == nil || len(t.By) < 2 {
		return ""
	}
	return fmt.Sprintf("the slowest class is %s, p99 %s", label(worst.Name), duration(worst.Latency.P99MS))
}

// worstMoment returns when a target was slowest, if that is far from the rest,
// and when most requests failed.
func (t *Target) worstMoment() string {
	var slow, failing *Moment
	for i := range t.Timeline {
		m := &t.Timeline[i]
		if m.OK > 0 && (slow == nil || m.P99MS > slow.P99MS) {
			slow = m
		}
		if m.Errors > 0 && (failing == nil || m.Errors > failing.Errors) {
			failing = m
		}
	}
	text := ""
	if slow != nil && len(t.Timeline) > 2 && slow.P99MS > 2*t.Latency.P50MS {
		text = fmt.Sprintf("slowest at %s, p99 %s", since(slow.Second), duration(slow.P99MS))
	}
	if failing != nil && len(t.Timeline) > 1 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("most errors at %s, %s of %s", since(failing.Second), count(failing.Errors), count(t.Errors))
	}
	return text
}

// heldUp returns whether many requests started late, and what for.
func (t *Target) heldUp() string {
	if t.Requests == 0 || float64(t.Late) < 0.01*float64(t.Requests) {
		return ""
	}
	reason := "this machine was busy, so that figures say less of the target"
	switch machine := t.Late - t.LateBusy - t.LateWaiting; {
	case t.LateWaiting > max(t.LateBusy, machine):
		reason = "they waited for the answers to others"
	case t.LateBusy >= machine:
		reason = "all connections were busy"
	}
	return fmt.Sprintf("%s of the requests started late, most because %s", share(t.Late, t.Requests), reason)
}

// label returns a name as sentences have it.
func label(name string) string { return fit(Escape(name), longestName) }

// since returns a time since the start of a run.
func since(seconds int64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%d:%02d min", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d h", seconds/3600, seconds/60%60)
}
