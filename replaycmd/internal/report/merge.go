// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
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
