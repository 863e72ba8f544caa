// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// Differences are what a tee's shadows differ in, as JSON.
type Differences struct {
	// Tee is the name of the tee.
	Tee string `json:"tee"`
	// Since is when the counts began.
	Since time.Time `json:"since"`
	// Shadows has the table of each shadow.
	Shadows []ShadowDifferences `json:"shadows"`
}

// ShadowDifferences is the table of one shadow.
type ShadowDifferences struct {
	// Shadow is its URL, `handle`, `handle_2` and so on.
	Shadow string `json:"shadow"`
	*tally.Table
}

// Summary is a tee's comparing in short, as `GET /rehearsal/tees` lists it.
type Summary struct {
	// Tee is the name of the tee.
	Tee string `json:"tee"`
	// Since is when the counts began.
	Since time.Time `json:"since"`
	// Shadows has a line for each shadow.
	Shadows []ShadowSummary `json:"shadows"`
}

// ShadowSummary is what is found of one shadow, in short.
type ShadowSummary struct {
	// Shadow is its URL, `handle`, `handle_2` and so on.
	Shadow string `json:"shadow"`
	// Pairs is how many pairs of responses were compared.
	Pairs int64 `json:"pairs"`
	// Diffs is how many fields are proved or, without noise, differ.
	Diffs int `json:"diffs"`
	// Unconfirmed is how many fields differ too seldom to say.
	Unconfirmed int `json:"unconfirmed"`
}

func (s *shared) differences() Differences {
	run := s.current()
	d := Differences{Tee: s.tee, Since: run.since, Shadows: []ShadowDifferences{}}
	for _, n := range run.shadows() {
		d.Shadows = append(d.Shadows, ShadowDifferences{Shadow: n.shadow, Table: n.tally.Table()})
	}
	return d
}

func (s *shared) summary() Summary {
	d := s.differences()
	all := Summary{Tee: d.Tee, Since: d.Since, Shadows: []ShadowSummary{}}
	for _, shadow := range d.Shadows {
		all.Shadows = append(all.Shadows, ShadowSummary{
			Shadow: shadow.Shadow, Pairs: shadow.Pairs, Diffs: shadow.Diffs(), Unconfirmed: shadow.Unconfirmed(),
		})
	}
	return all
}

// example returns the pair with an ID.
func (s *shared) example(id string) *Example {
	for _, n := range s.current().shadows() {
		if found := n.examples.of(id); found != nil {
			return found
		}
	}
	return nil
}

// all returns the comparisons that run, sorted by name. Of two with the same
// name, as there are during a reload, it returns the one that began later.
func all() []*shared {
	latest := make(map[string]*shared)
	comparisons.Range(func(_, value any) bool {
		s := value.(*shared)
		if other, ok := latest[s.tee]; !ok || s.number > other.number {
			latest[s.tee] = s
		}
		return true
	})
	list := make([]*shared, 0, len(latest))
	for _, s := range latest {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *shared) int { return cmp.Compare(a.tee, b.tee) })
	return list
}
