// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// targetPart is one shard's of a target, with how much later than the first the
// shard started.
type targetPart struct {
	*Target
	later time.Duration
}

// asTime returns milliseconds that ms has written.
func asTime(ms float64) time.Duration { return time.Duration(math.Round(ms*1000)) * time.Microsecond }

// mergeTargets adds up what became of the requests to one target.
func mergeTargets(parts []targetPart) (Target, error) {
	t := Target{
		Name: parts[0].Name, URL: parts[0].URL, ErrorsByKind: make(map[string]int64), Status: make(map[string]int64), Timeline: []Moment{},
	}
	var first, lastStarted, lastEnded time.Duration
	sent := false
	for _, p := range parts {
		t.Requests += p.Requests
		t.Unsent += p.Unsent
		t.Unlinked += p.Unlinked
		t.Answers += p.Answers
		t.Errors += p.Errors
		t.Interrupted += p.Interrupted
		t.Truncated += p.Truncated
		t.RateAsked += p.RateAsked
		t.ConnectionsOpened += p.ConnectionsOpened
		t.BytesSent += p.BytesSent
		t.BytesReceived += p.BytesReceived
		t.Late += p.Late
		t.LateBusy += p.LateBusy
		t.LateWaiting += p.LateWaiting
		addTo(t.ErrorsByKind, p.ErrorsByKind)
		addTo(t.Status, p.Status)
		if p.Requests == 0 {
			continue
		}
		if due := p.later + asTime(p.FirstDueMS); !sent || due < first {
			first, sent = due, true
		}
		lastStarted = max(lastStarted, p.later+asTime(p.LastStartedMS))
		lastEnded = max(lastEnded, p.later+asTime(p.LastEndedMS))
	}
	totals := Totals{First: -1}
	if sent {
		totals.First, totals.LastStarted, totals.Last = first, lastStarted, lastEnded
	}
	t.ElapsedMS, t.FirstDueMS, t.LastStartedMS, t.LastEndedMS = ms(totals.Elapsed()), ms(first), ms(lastStarted), ms(lastEnded)
	t.Rate, t.AnswerRate = totals.perSecond(t.Requests, t.RateAsked), totals.perSecond(t.Answers, t.RateAsked)
	var err error
	for _, l := range []struct {
		to *Latency
		of func(*Target) *Latency
	}{
		{&t.Latency, func(t *Target) *Latency { return &t.Latency }},
		{&t.Service, func(t *Target) *Latency { return &t.Service }},
		{&t.Lateness, func(t *Target) *Latency { return &t.Lateness }},
	} {
		all := make([]*Latency, len(parts))
		for i, p := range parts {
			all[i] = l.of(p.Target)
		}
		if *l.to, err = mergeLatencies(all); err != nil {
			return t, err
		}
	}
	if t.By, err = mergeClasses(parts); err != nil {
		return t, err
	}
	t.Links = mergeLinks(parts)
	t.TimelineSeconds, t.Timeline, err = mergeTimelines(parts)
	return t, err
}

func addTo(sum, n map[string]int64) {
	for key, more := range n {
		sum[key] += more
	}
}

// mergeLatencies adds distributions of times.
func mergeLatencies(all []*Latency) (Latency, error) {
	digits := 3
	for _, l := range all {
		if l.measured != nil {
			digits = int(l.measured.hdr.SignificantFigures())
			break
		}
	}
	sum := NewHistogram(digits)
	for _, l := range all {
		if l.measured == nil || l.Count == 0 {
			continue
		}
		if dropped := sum.hdr.Merge(l.measured.hdr); dropped > 0 {
			return Latency{}, fmt.Errorf("%s of a histogram are beyond a day", plural(dropped, "time"))
		}
		sum.max = max(sum.max, l.measured.max)
	}
	return newLatency(sum)
}

// mergeClasses adds up the classes of one name. What is beyond the limit of one
// run is one class, as in a run.
func mergeClasses(parts []targetPart) ([]Class, error) {
	byName := make(map[string]*Class)
	latencies := make(map[string][]*Latency)
	for _, p := range parts {
		for i := range p.By {
			c := &p.By[i]
			sum := byName[c.Name]
			if sum == nil {
				sum = &Class{Name: c.Name, Status: make(map[string]int64), StatusClasses: make(map[string]int64)}
				byName[c.Name] = sum
			}
			sum.Requests += c.Requests
			sum.Errors += c.Errors
			sum.Unlinked += c.Unlinked
			addTo(sum.Status, c.Status)
			addTo(sum.StatusClasses, c.StatusClasses)
			latencies[c.Name] = append(latencies[c.Name], &c.Latency)
		}
	}
	if len(byName) == 0 {
		return nil, nil
	}
	classes := make([]Class, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c := byName[name]
		var err error
		if c.Latency, err = mergeLatencies(latencies[name]); err != nil {
			return nil, err
		}
		classes = append(classes, *c)
	}
	sortClasses(classes)
	return classes, nil
}

// mergeTimelines adds up timelines by the seconds of the clock: each begins as
// much later as its shard has started.
func mergeTimelines(parts []targetPart) (seconds int64, moments []Moment, err error) {
	sum := new(timeline)
	for _, p := range parts {
		if p.TimelineSeconds > sum.seconds() {
			sum.shift = uint(bits.Len64(uint64(p.TimelineSeconds)) - 1)
		}
	}
	for _, p := range parts {
		later := int64(p.later.Round(time.Second) / time.Second)
		for i := range p.Timeline {
			m := &p.Timeline[i]
			if m.Second < 0 || m.Second > int64(longestTimeline/time.Second) {
				return 0, nil, fmt.Errorf("the timeline has a second %d", m.Second)
			}
			mark, err := m.mark()
			if err != nil {
				return 0, nil, fmt.Errorf("second %d of the timeline: %v", m.Second, err)
			}
			sum.at(time.Duration(later+m.Second) * time.Second).merge(mark)
		}
	}
	return sum.seconds(), sum.moments(), nil
}

// longestTimeline is longer than any run.
const longestTimeline = 100 * 365 * 24 * time.Hour

// mark returns the counts of a moment that was read.
func (m *Moment) mark() (*mark, error) {
	k := &mark{
		due: m.Due, sent: m.Sent, ok: m.OK, errors: m.Errors,
		late: m.Late, lateBusy: m.LateBusy, lateWaiting: m.LateWaiting, unlinked: m.Unlinked,
		latency: m.latency, max: asTime(m.MaxMS),
	}
	for hundred := range k.status {
		k.status[hundred] = m.StatusClasses[strconv.Itoa(hundred)+"xx"]
	}
	if k.latency == nil && m.Histogram != "" {
		var err error
		if k.latency, err = hdrhistogram.DecodePacked([]byte(m.Histogram)); err != nil {
			return nil, fmt.Errorf("histogram is not valid: %v", err)
		}
	}
	return k, nil
}
