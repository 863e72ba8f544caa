// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ohler55/ojg/oj"
)

// equalToJSON compares JSON by its meaning.
type equalToJSON struct {
	expected    any
	text        string
	anyOrder    bool // of the elements of arrays
	extraFields bool // and elements of arrays are no difference
}

func (p *equalToJSON) String() string { return "equalToJson " + p.text }

func (p *equalToJSON) matches(v value) bool {
	if !v.present {
		return false
	}
	actual, ok := v.json()
	return ok && p.equal(p.expected, actual)
}

func (p *equalToJSON) equal(expected, actual any) bool {
	switch e := expected.(type) {
	case placeholder:
		return e(actual)
	case map[string]any:
		a, ok := actual.(map[string]any)
		return ok && p.equalObjects(e, a)
	case []any:
		a, ok := actual.([]any)
		switch {
		case !ok || len(a) < len(e) || len(a) > len(e) && !p.extraFields:
			return false
		case p.anyOrder:
			return p.contains(e, a)
		}
		for i := range e {
			if !p.equal(e[i], a[i]) {
				return false
			}
		}
		return true
	case int64, float64:
		return equalNumbers(expected, actual)
	}
	return expected == actual
}

func (p *equalToJSON) equalObjects(expected, actual map[string]any) bool {
	if len(actual) > len(expected) && !p.extraFields {
		return false
	}
	for name, e := range expected {
		if a, ok := actual[name]; !ok || !p.equal(e, a) {
			return false
		}
	}
	return true
}

// contains finds for every expected element one of its own, in any order.
func (p *equalToJSON) contains(expected, actual []any) bool {
	owner := make([]int, len(actual)) // 1 + index of the expected element
	for i := range expected {
		if !p.assign(i, expected, actual, owner, make([]bool, len(actual))) {
			return false
		}
	}
	return true
}

// assign gives an expected element an actual one, moving others if need be.
func (p *equalToJSON) assign(i int, expected, actual []any, owner []int, tried []bool) bool {
	for j := range actual {
		if tried[j] || !p.equal(expected[i], actual[j]) {
			continue
		}
		tried[j] = true
		if owner[j] == 0 || p.assign(owner[j]-1, expected, actual, owner, tried) {
			owner[j] = i + 1
			return true
		}
	}
	return false
}

func equalNumbers(expected, actual any) bool {
	e, ok := expected.(int64)
	a, both := actual.(int64)
	if ok && both {
		return e == a
	}
	x, ok := float(expected)
	y, both := float(actual)
	return ok && both && x == y
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func parseEqualToJSON(f *fields, data json.RawMessage) (pattern, error) {
	p := new(equalToJSON)
	if _, err := f.into("ignoreArrayOrder", &p.anyOrder); err != nil {
		return nil, err
	}
	if _, err := f.into("ignoreExtraElements", &p.extraFields); err != nil {
		return nil, err
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = json.RawMessage(text)
	}
	parsed, err := oj.Parse(data)
	if err != nil || strings.TrimSpace(string(data)) == "" {
		return nil, fmt.Errorf("it is not JSON: %v", err)
	}
	p.text = string(compact(data))
	p.expected, err = withPlaceholders(parsed)
	return p, err
}
