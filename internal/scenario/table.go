// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mostRoutes bounds what posted recipes can add up to.
const mostRoutes = 10000

// table finds the route of a path: an exact one, else the one with the longest
// prefix, whatever the order in which recipes came. It never changes.
type table struct {
	routes   []*route // sorted by pattern
	exact    map[string]*route
	prefixes map[string]*route // by pattern without the star
	lengths  []int             // of the prefixes, longest first

	asksForClients bool // an outcome looks at their addresses
}

func newTable(routes []*route) *table {
	t := &table{exact: make(map[string]*route), prefixes: make(map[string]*route)}
	for _, r := range routes { // of two for the same pattern, the later
		if prefix, ok := strings.CutSuffix(r.recipe.Route, "*"); ok {
			t.prefixes[prefix] = r
			t.lengths = append(t.lengths, len(prefix))
		} else {
			t.exact[r.recipe.Route] = r
		}
	}
	slices.Sort(t.lengths)
	t.lengths = slices.Compact(t.lengths)
	slices.Reverse(t.lengths)
	t.routes = slices.AppendSeq(slices.Collect(maps.Values(t.exact)), maps.Values(t.prefixes))
	slices.SortFunc(t.routes, func(a, b *route) int { return strings.Compare(a.recipe.Route, b.recipe.Route) })
	t.asksForClients = slices.ContainsFunc(t.routes, func(r *route) bool { return r.asksForClients })
	return t
}

// with returns a table in which routes have been added or replaced.
func (t *table) with(added []*route) (*table, error) {
	after := newTable(slices.Concat(t.routes, added))
	if n := len(after.routes); n > mostRoutes {
		return nil, fmt.Errorf("there would be %d routes, at most %d can be", n, mostRoutes)
	}
	return after, nil
}

// get returns the route with a pattern.
func (t *table) get(pattern string) *route {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return t.prefixes[prefix]
	}
	return t.exact[pattern]
}

// find returns the most specific route of a path. An empty one, as in
// `GET http://host`, is the root.
func (t *table) find(path string) *route {
	path = cmp.Or(path, "/")
	if r, ok := t.exact[path]; ok {
		return r
	}
	for _, n := range t.lengths {
		if n <= len(path) {
			if r, ok := t.prefixes[path[:n]]; ok {
				return r
			}
		}
	}
	return nil
}
