// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package jsonpath evaluates JSONPath the way Jayway's implementation does,
// which WireMock uses: a filter on an object tests the object itself, an index
// applies to arrays only, a regular expression has to match the whole text.
package jsonpath

import (
	"fmt"

	"github.com/ohler55/ojg/jp"
)

// Path is a compiled JSONPath.
type Path struct {
	text   string
	steps  []jp.Frag
	length bool // ends on .length()
	single bool // leads to one place at most
}

// Compile reads a JSONPath. The error names the expression and what of it is
// not understood.
func Compile(text string) (*Path, error) {
	translated, length, err := translate(text)
	if err != nil {
		return nil, fmt.Errorf("JSONPath '%s': %v", text, err)
	}
	expr, err := jp.ParseString(translated)
	if err != nil {
		return nil, fmt.Errorf("JSONPath '%s': %v", text, err)
	}
	p := &Path{text: text, length: length, single: true}
	for _, step := range expr {
		switch step.(type) {
		case jp.Root, jp.At, jp.Bracket:
			continue
		case jp.Child, jp.Nth:
		case jp.Wildcard, jp.Descent, jp.Slice, jp.Union, *jp.Filter:
			p.single = false
		default:
			return nil, fmt.Errorf("JSONPath '%s': '%v' is not supported", text, step)
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

// String gives the expression as it was written.
func (p *Path) String() string { return p.text }

// Get gives what the path leads to. A path with a wildcard, a filter, a slice
// or `..` leads to a list, which may be empty; any other one to a value, or to
// nothing.
func (p *Path) Get(document any) (value any, found bool) {
	values := walk(p.steps, document, nil)
	switch {
	case !p.single:
		value = values
	case len(values) == 0:
		return nil, false
	default:
		value = values[0]
	}
	if p.length {
		return lengthOf(value)
	}
	return value, true
}

func lengthOf(value any) (any, bool) {
	switch v := value.(type) {
	case []any:
		return int64(len(v)), true
	case map[string]any:
		return int64(len(v)), true
	case string:
		return int64(len([]rune(v))), true
	}
	return nil, false
}
