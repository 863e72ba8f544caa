// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

const (
	maxSiblings = 32   // names at one place before they are one
	maxAlias    = 1000 // collapsed names that are remembered
)

// field returns the counts of a field, nil where there are too many.
func (t *Tally) field(e *endpoints, name string) *field {
	if f := e.Fields[name]; f != nil {
		return f
	}
	if f := e.alias[name]; f != nil {
		return f
	}
	raw, from := name, int64(0)
	if strings.HasPrefix(name, "$") {
		name, from = t.collapse(e, name)
	}
	f := e.Fields[name]
	if f == nil {
		if t.fields >= maxFields || len(e.Fields) >= maxOwnFields {
			t.state.LeftOut.Differences++
			return nil
		}
		t.fields++
		f = &field{From: from, Kinds: make(map[compare.Kind]int64), Adjusted: 1}
		e.Fields[name] = f
	}
	if raw != name {
		if e.alias == nil || len(e.alias) >= maxAlias {
			e.alias = make(map[string]*field)
		}
		e.alias[raw] = f
	}
	return f
}

// collapse returns a path with [*] for names that vary like values. Where a
// place has more names than that of members, they become one from then on, and
// what was counted of each goes: from is how many requests came before.
func (t *Tally) collapse(e *endpoints, name string) (collapsed string, from int64) {
	path, err := jsonpath.Parse(name)
	if err != nil {
		return name, 0
	}
	if e.children == nil {
		e.children = make(map[string]map[string]bool)
	}
	for i, step := range path {
		place := path[:i].String()
		before, ok := e.Collapsed[place]
		if from = max(from, before); step.Any || ok {
			path[i] = jsonpath.Step{Any: true}
			continue
		}
		names := e.children[place]
		if names == nil {
			if len(e.children) >= maxOwnFields {
				continue
			}
			names = make(map[string]bool)
			e.children[place] = names
		}
		if names[step.Name] = true; len(names) <= maxSiblings {
			continue
		}
		t.drop(e, place, names)
		path[i] = jsonpath.Step{Any: true}
		from = e.Requests
	}
	return path.String(), from
}

func (t *Tally) drop(e *endpoints, place string, names map[string]bool) {
	if e.Collapsed == nil {
		e.Collapsed = make(map[string]int64)
	}
	e.Collapsed[place] = e.Requests
	delete(e.children, place)
	for name := range names {
		below := string(jsonpath.AppendName([]byte(place), name))
		for other := range e.Fields {
			if rest, ok := strings.CutPrefix(other, below); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				delete(e.Fields, other)
				t.fields--
				t.state.LeftOut.Collapsed++
			}
		}
		for other := range e.children {
			if strings.HasPrefix(other, below) {
				delete(e.children, other)
			}
		}
	}
}

// alone returns in how many requests new differs and old′ does not; without those
// whose values are certainly made anew each time.
func (f *field) alone() int64 {
	if f.Generated.certain() {
		return f.B - f.Generated.Requests
	}
	return f.B
}

// look tests a count that is read while it grows, whenever b+c reaches 16, 32,
// 64 and so on.
func (f *field) look() {
	for f.B+f.C >= 16<<f.Looks && f.Looks < 50 {
		f.Looks++
		k := float64(f.Looks)
		f.Adjusted = min(f.Adjusted, signTest(f.B, f.B+f.C)*math.Pi*math.Pi*k*k/6)
	}
}

// generated knows whether the values of a field are made anew for every
// response, on both sides.
type generated struct {
	Requests int64  `json:"requests"` // of B, where all that differs looks so
	Seen     int    `json:"seen"`
	Moments  int    `json:"moments"`
	Old      hashes `json:"old"`
	New      hashes `json:"new"`
}

type hashes map[uint64]bool

const (
	leastValues = 20
	mostValues  = 200
)

func (g *generated) see(d *compare.Difference, what compare.Generated) {
	if g.Seen >= mostValues {
		return
	}
	if g.Old == nil {
		g.Old, g.New = make(hashes), make(hashes)
	}
	g.Seen++
	if what == compare.Moment {
		g.Moments++
		return
	}
	g.Old[xxhash.Sum64(d.Old)] = true
	g.New[xxhash.Sum64(d.New)] = true
}

// certain reports whether enough values are known, and nearly all distinct;
// times near their requests need not be.
func (g *generated) certain() bool {
	distinct := float64(min(len(g.Old), len(g.New)) + g.Moments)
	return g.Seen >= leastValues && distinct >= 0.95*float64(g.Seen)
}
