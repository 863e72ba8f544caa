// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Path is a compiled JSONPath. It is evaluated the way Jayway's implementation
// does: a filter on an object tests the object itself, an index applies to
// arrays only, a regular expression has to match the whole text.
type Path struct {
	text   string
	steps  []step
	length bool // ends on .length()
	single bool // leads to one place at most
}

// step is one part of a path.
type step any

type (
	child    string
	leaf     string // a child at the end, null for an object that has no such member
	nth      int
	wildcard struct{}
	descent  struct{}
	union    []any // child and nth
	slice    struct{ start, end, step *int }
	filter   struct{ test test }
)

// CompilePath reads a JSONPath. The error names the expression and what of it
// is not understood.
func CompilePath(text string) (*Path, error) {
	p := pathParser{text: text}
	path, err := p.whole()
	if err != nil {
		return nil, fmt.Errorf("JSONPath '%s': %v", text, err)
	}
	return path, nil
}

// newPath returns the path of steps that were read.
func newPath(text string, steps []step, length bool) *Path {
	single := !slices.ContainsFunc(steps, func(s step) bool {
		switch s.(type) {
		case child, nth:
			return false
		}
		return true
	})
	return &Path{text: text, steps: steps, length: length, single: single}
}

// String returns the expression as it was written.
func (p *Path) String() string { return p.text }

// WithNulls returns the path as WireMock's templates follow it: what `$..name`
// or `$.list[*].name` leads to has a null for every object without a name.
func (p *Path) WithNulls() *Path {
	last := len(p.steps) - 1
	if p.single || last < 0 {
		return p
	}
	name, ok := p.steps[last].(child)
	if !ok {
		return p
	}
	filled := *p
	filled.steps = slices.Clone(p.steps)
	filled.steps[last] = leaf(name)
	return &filled
}

// Get returns what the path leads to. A path with a wildcard, a filter, a slice
// or `..` leads to a list, which may be empty; any other one to a value, or to
// nothing. It may be incomplete where the budget ends.
func (p *Path) Get(document any, b *Budget) (value any, found bool) {
	return p.get(document, document, b)
}

// get has apart what the path begins at and what `$` is within its filters.
func (p *Path) get(from, root any, b *Budget) (value any, found bool) {
	places := make([]any, 0, 1)
	p.visit(from, root, b, func(place any) bool {
		if !p.single && !b.Spend(kept) {
			return false
		}
		places = append(places, place)
		return true
	})
	switch {
	case !p.single:
		value = places
	case len(places) == 0:
		return nil, false
	default:
		value = places[0]
	}
	if p.length {
		return lengthOf(value)
	}
	return value, true
}

// Visit calls visit with each place that the path leads to until that returns
// false. It reports false if the path leads to a single place, or to a length,
// instead of a list: then nothing is visited.
func (p *Path) Visit(document any, b *Budget, visit func(place any) bool) (isList bool) {
	if p.single || p.length {
		return false
	}
	p.visit(document, document, b, visit)
	return true
}

func (p *Path) visit(from, root any, b *Budget, visit func(place any) bool) {
	w := walker{root, b, visit}
	w.walk(p.steps, from)
}

func lengthOf(value any) (any, bool) {
	switch v := value.(type) {
	case []any:
		return int64(len(v)), true
	case map[string]any:
		return int64(len(v)), true
	case string:
		return int64(utf8.RuneCountInString(v)), true
	}
	return nil, false
}

// IsSingle reports whether the path leads to one place at most, or to a length.
func (p *Path) IsSingle() bool { return p.single || p.length }
