// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"slices"
)

// Path is a compiled JSONPath. It is evaluated the way Jayway's implementation
// does: a filter on an object tests the object itself, an index applies to
// arrays only, a regular expression has to match the whole text.
type Path struct {
	text     string
	steps    []step
	function *function // what it ends on: .length()
	definite bool      // leads to one place at most
	nulls    bool      // see WithNulls
	isInner  bool      // a function comes behind it
}

// step is one part of a path.
type step any

type (
	child    string
	nth      int
	wildcard struct{}
	descent  struct{}
	pick     []string // of an object, at the end of a path: an object with those members
	union    []any    // child or nth
	slice    struct{ start, end *int }
	filter   struct{ test test }
)

// CompilePath reads a JSONPath. The error names the expression and what of it
// is not understood.
func CompilePath(text string) (*Path, error) {
	path, err := compilePath(text, 0)
	if err != nil {
		return nil, fmt.Errorf("JSONPath '%s': %w", text, err)
	}
	return path, nil
}

// isDefinite reports whether a step leads to one place at most.
func isDefinite(s step) bool {
	switch s.(type) {
	case child, nth, pick:
		return true
	}
	return false
}

// newPath returns the path of steps that were read.
func newPath(text string, steps []step, f *function) *Path {
	definite := !slices.ContainsFunc(steps, func(s step) bool { return !isDefinite(s) })
	if f != nil && len(steps) > 0 && steps[0] == step(descent{}) {
		f.ofAll = true
		definite = true
	}
	return &Path{text: text, steps: steps, function: f, definite: definite}
}

// String returns the expression as it was written.
func (p *Path) String() string { return p.text }

// WithNulls returns the path as WireMock's templates follow it: an object that
// has no member of the name that a path ends on has null there.
func (p *Path) WithNulls() *Path {
	filled := *p
	filled.nulls = true
	return &filled
}

// Outcome is what following a path came to.
type Outcome int

// The outcomes. An expression has Failed where Jayway's implementation gives up
// on the whole document, as it does on the smallest of an empty list.
const (
	Nothing Outcome = iota
	Found
	Failed
)

// Get returns what the path leads to. A path with a wildcard, a filter, a slice
// or `..` leads to a list, which may be empty; any other one to a value, or to
// nothing. It may be incomplete where the budget ends.
func (p *Path) Get(document any, b *Budget) (value any, outcome Outcome) {
	return p.get(document, &environment{root: document, budget: b, nulls: p.nulls})
}

// get has apart what the path begins at.
func (p *Path) get(from any, e *environment) (value any, outcome Outcome) {
	if p.function != nil {
		return p.call(from, e)
	}
	places := make([]any, 0, 1)
	w := walker{environment: e, isInner: p.isInner, visit: func(place any) bool {
		if !p.definite && !e.budget.Spend(kept) {
			return false
		}
		places = append(places, place)
		return true
	}}
	w.walk(p.steps, from, true)
	switch {
	case e.failed:
		return nil, Failed
	case w.missing:
		return nil, Nothing
	case !p.definite:
		return places, Found
	case len(places) == 0:
		return nil, Nothing
	}
	return places[len(places)-1], Found
}

// exists reports whether a path leads anywhere within a filter: a member that is
// asked for has to be in every object on the way, and a list may be empty.
func (p *Path) exists(from any, e *environment) bool {
	if p.function != nil {
		_, outcome := p.call(from, e)
		return outcome == Found
	}
	found := false
	w := walker{environment: e, strict: true, visit: func(any) bool {
		found = true
		return true
	}}
	w.walk(p.steps, from, true)
	return !w.missing && !e.failed && (found || !p.definite)
}

// IsList reports whether the path leads to a list of places instead of a value.
func (p *Path) IsList() bool { return !p.definite && p.function == nil }

// Visit calls visit with each place that a path to a list leads to until that returns
// false.
func (p *Path) Visit(document any, b *Budget, visit func(place any) bool) Outcome {
	e := &environment{root: document, budget: b, nulls: p.nulls}
	w := walker{environment: e, visit: visit}
	w.walk(p.steps, document, true)
	switch {
	case e.failed:
		return Failed
	case w.missing:
		return Nothing
	}
	return Found
}

// IsDefinite reports whether the path leads to one place at most.
func (p *Path) IsDefinite() bool { return p.definite }
