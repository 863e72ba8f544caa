// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Shard is which part of a run a report is of, and what reports of the same run
// have in common.
type Shard struct {
	Index     int    `json:"index"` // from 1
	Count     int    `json:"count"`
	Recording string `json:"recording"` // what the recordings of all have in common, or the URL
	Command   string `json:"command"`   // without what each shard has of its own
}

// shards returns in words of which part of a run the report is, or of how many
// parts and whether their clocks disagreed, empty if nothing was divided.
func (r *Report) shards() string {
	switch {
	case r.Shard != nil:
		return fmt.Sprintf("shard %d of %d", r.Shard.Index, r.Shard.Count)
	case r.Shards > 0:
		return "all of " + plural(int64(r.Shards), "shard") + r.ClocksApart.words()
	}
	return ""
}

// Merge adds up the reports of all shards of a run, which are no longer of use
// then. Names are what errors call them. Nothing is an average: histograms are
// added bucket by bucket, and each test of a comparison is made anew.
func Merge(shards []*Report, names []string) (*Report, error) {
	if err := checkShards(shards, names); err != nil {
		return nil, err
	}
	order := slices.Clone(shards)
	slices.SortFunc(order, func(a, b *Report) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	first := order[0]
	r := &Report{
		Version: Version, Run: first.Run, Started: first.Started, Pace: first.Pace, Timed: first.Timed, Request: first.Request,
		Problems: []string{}, Targets: []Target{}, Checks: []Check{}, Shards: len(order), Baseline: first.Baseline, Following: first.Following, NotLinked: first.NotLinked, Elsewhere: first.Elsewhere,
	}
	r.Run.Command = first.Shard.Command
	r.NoSession = !slices.ContainsFunc(order, func(s *Report) bool { return !s.NoSession })
	var machines []string
	var ended time.Time
	for _, s := range order {
		if s.Started.Before(r.Started) {
			r.Started = s.Started
		}
		if end := s.Started.Add(asTime(s.ElapsedMS)); end.After(ended) {
			ended = end
		}
		r.Connections += s.Connections
		r.Interrupted = r.Interrupted || s.Interrupted
		for _, problem := range s.Problems {
			if !slices.Contains(r.Problems, problem) {
				r.Problems = append(r.Problems, problem)
			}
		}
		for _, lack := range s.Incomplete {
			if !slices.Contains(r.Incomplete, lack) {
				r.Incomplete = append(r.Incomplete, lack)
			}
		}
		if !slices.Contains(machines, s.Run.Machine) {
			machines = append(machines, s.Run.Machine)
		}
	}
	r.Run.Machine = strings.Join(machines, "; ")
	r.ElapsedMS = ms(ended.Sub(r.Started))
	for i := range first.Targets {
		parts := make([]targetPart, len(order))
		for k, s := range order {
			parts[k] = targetPart{&s.Targets[i], s.Started.Sub(r.Started)}
		}
		t, err := mergeTargets(parts)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", t.Name, err)
		}
		r.Targets = append(r.Targets, t)
	}
	if err := r.mergeComparisons(order); err != nil {
		return nil, err
	}
	r.Stale = mergeStale(order)
	r.ClocksApart = mergeClocks(order)
	return r, r.judgeAgain(order)
}

// mostShards is how many a run may be divided into, so that naming those that are
// missing has an end, whatever a report says.
const mostShards = math.MaxUint16

// namedShards is how many missing shards are named.
const namedShards = 20

// checkShards refuses reports that are not of all shards of one run.
func checkShards(shards []*Report, names []string) error {
	have := make(map[int]string)
	first := shards[0].Shard
	for i, r := range shards {
		s := r.Shard
		switch {
		case s == nil:
			return fmt.Errorf("%s is not of a shard: reports of several runs are not added up, --baseline sets one beside another", names[i])
		case s.Count < 1 || s.Count > mostShards || s.Index < 1 || s.Index > s.Count:
			return fmt.Errorf("%s is of shard %d of %d, which is none", names[i], s.Index, s.Count)
		case s.Count != first.Count:
			return fmt.Errorf("%s is one of %d shards, and %s one of %d", names[0], first.Count, names[i], s.Count)
		case s.Recording != first.Recording:
			return fmt.Errorf("%s and %s are of other recordings: names and sizes of their files differ", names[0], names[i])
		case s.Command != first.Command:
			return fmt.Errorf("%s and %s are of other commands: '%s' and '%s'", names[0], names[i], first.Command, s.Command)
		case have[s.Index] != "":
			return fmt.Errorf("%s and %s are both of shard %d", have[s.Index], names[i], s.Index)
		}
		if err := sameTargets(shards[0], r); err != nil {
			return fmt.Errorf("%s and %s are of other runs: %v", names[0], names[i], err)
		}
		have[s.Index] = names[i]
	}
	var missing []string
	for i := 1; i <= first.Count; i++ {
		if have[i] == "" {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if more := len(missing) - namedShards; more > 0 {
		missing = append(missing[:namedShards], fmt.Sprintf("and %d more", more))
	}
	if len(missing) > 0 {
		return fmt.Errorf("of %s the report of %s is missing", plural(int64(first.Count), "shard"), strings.Join(missing, ", "))
	}
	return nil
}

func sameTargets(a, b *Report) error {
	if len(a.Targets) != len(b.Targets) {
		return fmt.Errorf("one has %s, the other %d", plural(int64(len(a.Targets)), "target"), len(b.Targets))
	}
	for i := range a.Targets {
		if x, y := a.Targets[i].Name, b.Targets[i].Name; x != y {
			return fmt.Errorf("one has a target %s, the other %s", label(x), label(y))
		}
	}
	return nil
}

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

// mergeComparisons adds up what was found of each new system's responses.
func (r *Report) mergeComparisons(shards []*Report) error {
	for i := range shards[0].Comparisons {
		c := shards[0].Comparisons[i]
		sum := Comparison{Target: c.Target, Old: c.Old, Noise: c.Noise, Counts: c.Counts}
		if sum.Counts == nil {
			return fmt.Errorf("%s: the comparison has no counts", label(c.Target))
		}
		for k, s := range shards {
			if len(s.Comparisons) != len(shards[0].Comparisons) || s.Comparisons[i].Target != c.Target || s.Comparisons[i].Counts == nil {
				return fmt.Errorf("shard %d has no comparison of %s", s.Shard.Index, label(c.Target))
			}
			o := &s.Comparisons[i]
			sum.Confirming += o.Confirming
			sum.NotAsked = cmp.Or(sum.NotAsked, o.NotAsked)
			if k > 0 {
				sum.Counts.Merge(o.Counts)
			}
		}
		r.AddComparison(sum)
	}
	return nil
}

// judgeAgain judges the whole by the conditions that the shards were judged by.
func (r *Report) judgeAgain(shards []*Report) error {
	var conditions []Condition
	seen := make(map[string]bool)
	for _, s := range shards {
		for _, check := range s.Checks {
			if seen[check.Condition] {
				continue
			}
			seen[check.Condition] = true
			c, err := ParseCondition(check.Condition)
			if err != nil {
				return fmt.Errorf("shard %d: %v", s.Shard.Index, err)
			}
			conditions = append(conditions, c)
		}
	}
	r.Judge(conditions)
	return nil
}
