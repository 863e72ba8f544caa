// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiremock answers requests by WireMock's stub mappings.
//
// Load reads the JSON files that WireMock reads. Everything in them is
// compiled then: patterns, JSONPaths, templates, body files. What a mapping
// asks for and this package does not do is an error that names the file, the
// mapping and the field; nothing is left out silently.
//
// A Set finds the mapping for a request by an index of URLs and returns the
// response as plain data, so that any HTTP server can write it.
package wiremock

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// Set is a set of mappings. It never changes, but for the states of its scenarios:
// any number of goroutines may use it.
type Set struct {
	added    []*Mapping // in the order in which they were added
	mappings []*Mapping // the first that matches is taken
	exact    map[string][]int
	paths    map[string][]int
	prefixes map[string][]int
	lengths  []int // of the prefixes there are, from short to long
	anywhere []int
	segments segments
	byURL    []int // all, in the order of the texts of their URLs

	scenarios *Scenarios
	states    map[string]*atomic.Pointer[string] // of the scenarios that mappings have
}

// NewSet orders mappings as WireMock does: by priority, and among equals the
// one that was added last comes first. Their scenarios begin.
func NewSet(added []*Mapping) *Set { return NewSetIn(NewScenarios(), added) }

// NewSetIn is NewSet with scenarios that may have begun: those that another set had
// too stay in their states.
func NewSetIn(scenarios *Scenarios, added []*Mapping) *Set {
	s := &Set{
		added:    slices.Clone(added),
		mappings: slices.Clone(added),
		exact:    make(map[string][]int),
		paths:    make(map[string][]int),
		prefixes: make(map[string][]int),
	}
	slices.Reverse(s.mappings)
	slices.SortStableFunc(s.mappings, func(a, b *Mapping) int { return cmp.Compare(a.priority, b.priority) })
	for rank, m := range s.mappings {
		switch u := m.url; {
		case u.kind == "url":
			s.exact[u.text] = append(s.exact[u.text], rank)
		case u.kind == "urlPath":
			s.paths[u.text] = append(s.paths[u.text], rank)
		case u.template != nil:
			s.segments.add(u.template.segments, rank)
		case u.prefix == "":
			s.anywhere = append(s.anywhere, rank)
		default:
			if s.prefixes[u.prefix] == nil {
				s.lengths = append(s.lengths, len(u.prefix))
			}
			s.prefixes[u.prefix] = append(s.prefixes[u.prefix], rank)
		}
	}
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	s.byURL = sortedByURL(s.mappings)
	s.scenarios, s.states = scenarios, scenarios.hold(added)
	return s
}

// Mappings returns all mappings in the order in which they were added.
func (s *Set) Mappings() []*Mapping { return s.added }

// InOrder returns all mappings in the order in which they are tried.
func (s *Set) InOrder() []*Mapping { return s.mappings }

// Match returns the mapping for a request; nil if there is none. Its scenario
// goes on to the next state. The error is that of reading the body, or ErrTooMuch.
func (s *Set) Match(r *Request) (*Mapping, error) {
	if len(s.states) == 0 {
		return s.Find(r)
	}
	return s.matchInStates(r)
}

// Find is Match for those who only ask: scenarios stay as they are.
func (s *Set) Find(r *Request) (*Mapping, error) {
	r.split()
	candidates := s.candidates(r, r.fewLists[:0])
	for {
		next := -1
		for i, list := range candidates {
			if len(list) > 0 && (next < 0 || list[0] < candidates[next][0]) {
				next = i
			}
		}
		if next < 0 {
			return nil, nil
		}
		m := s.mappings[candidates[next][0]]
		candidates[next] = candidates[next][1:]
		matches := m.matches(r)
		if r.failed != nil {
			return nil, m.located(r.failed)
		}
		if matches && s.allows(m) {
			return m, nil
		}
	}
}

// candidates returns the lists of mappings, each ordered, whose URL may match.
func (s *Set) candidates(r *Request, lists [][]int) [][]int {
	if list := s.exact[r.url]; list != nil {
		lists = append(lists, list)
	}
	if list := s.paths[r.path]; list != nil {
		lists = append(lists, list)
	}
	for _, length := range s.lengths {
		if length > len(r.url) {
			break
		}
		if list := s.prefixes[r.url[:length]]; list != nil {
			lists = append(lists, list)
		}
	}
	lists = s.segments.find(r.path, lists)
	if s.anywhere != nil {
		lists = append(lists, s.anywhere)
	}
	return lists
}
