// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// fewForP99 is how many answers a p99 needs to be more than the slowest few.
const fewForP99 = 100

// fewForMedian is how many answers there have to be to say what is slower.
const fewForMedian = 10

// insights returns in sentences what a reader looks for first: which target is
// slower and where, which failed, and whether the measurement itself was held up.
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
		rows := r.rows(c.Target)
		all = append(all, fmt.Sprintf("%s beside %s: %s%s", label(c.Target), label(c.Old), c.summary(rows), firstOf(rows)))
	}
	for i := range min(len(r.Targets), maxTargets) {
		t := &r.Targets[i]
		for _, s := range []string{t.serverErrors(), t.slowestClass(), t.worstMoment()} {
			if s != "" {
				all = append(all, label(t.Name)+": "+s)
			}
		}
	}
	return slices.Concat(all, r.linkInsights(), r.heldUp(), r.clockInsights())
}

// namedFields is how many fields that differ are named in a sentence.
const namedFields = 3

// firstOf returns the first fields that count, to go on a sentence with.
func firstOf(rows []tally.Row) string {
	var named []string
	for i := range rows {
		if row := &rows[i]; row.Class.Counts() && len(named) < namedFields {
			named = append(named, label(row.Endpoint)+" "+label(row.Field))
		}
	}
	if len(named) == 0 {
		return ""
	}
	return ": " + strings.Join(named, ", ")
}

// figure returns the percentile that enough answers are known for, of all targets
// of which anything is said.
func (r *Report) figure() (name string, percent float64) {
	for _, t := range r.Targets {
		if t.Latency.Count >= fewForMedian && t.Latency.Count < fewForP99 {
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
		if r.Targets[i].Latency.Count >= fewForMedian {
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

// serverErrors returns how many answers of a target have a status of 5xx, and when
// most of them came.
func (t *Target) serverErrors() string {
	failing := t.StatusClass(5)
	if failing == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s answers have a status of 5xx", count(failing), count(t.Answers))
	if len(t.Timeline) < 2 {
		return text
	}
	worst := slices.MaxFunc(t.Timeline, func(a, b Moment) int { return cmp.Compare(a.StatusClasses["5xx"], b.StatusClasses["5xx"]) })
	return fmt.Sprintf("%s, most at %s", text, since(worst.Second))
}

// slowestClass returns in which class of a target's requests its time goes.
func (t *Target) slowestClass() string {
	var worst *Class
	for i := range t.By {
		if c := &t.By[i]; c.Latency.Count >= fewForMedian && (worst == nil || c.Latency.P99MS > worst.Latency.P99MS) {
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

// heldUp returns where many requests started late, and what for: in one sentence of
// all targets with one reason.
func (r *Report) heldUp() (sentences []string) {
	late := make(map[string][]*Target) // by reason
	for i := range min(len(r.Targets), maxTargets) {
		if t := &r.Targets[i]; t.Requests > 0 && float64(t.Late) >= 0.01*float64(t.Requests) {
			late[t.lateFor()] = append(late[t.lateFor()], t)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(late)) {
		targets := late[reason]
		most := slices.MaxFunc(targets, func(a, b *Target) int { return cmp.Compare(a.Late*b.Requests, b.Late*a.Requests) })
		where, upTo := label(most.Name), ""
		if len(targets) > 1 {
			where, upTo = plural(int64(len(targets)), "target"), "up to "
		}
		sentences = append(sentences, fmt.Sprintf("%s: %s%s of the requests started late, most because %s", where, upTo, share(most.Late, most.Requests), reason))
	}
	return sentences
}

// lateFor returns what most late requests of a target were late for.
func (t *Target) lateFor() string {
	switch machine := t.Late - t.LateBusy - t.LateWaiting; {
	case t.LateWaiting > max(t.LateBusy, machine):
		return "they waited for the answers to others"
	case t.LateBusy >= machine:
		return "all connections were busy"
	}
	return "this machine was busy, so that figures say less of the target"
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
