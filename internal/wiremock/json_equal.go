// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// equalToJSON compares JSON by its meaning. What a client sent is compared as
// it is written: most of the time nothing is built of it.
type equalToJSON struct {
	expected    any
	text        string
	anyOrder    bool // of the elements of arrays
	extraFields bool // and elements of arrays are no difference
}

func (p *equalToJSON) String() string { return "equalToJson " + p.text }

func (p *equalToJSON) matches(v value) bool {
	return v.present && v.isJSON() && p.equal(p.expected, strings.TrimSpace(v.text), v.budget)
}

func (p *equalToJSON) equal(expected any, actual string, b *eval.Budget) bool {
	switch e := expected.(type) {
	case nil:
		return actual == "null"
	case bool:
		return actual == strconv.FormatBool(e)
	case string:
		return actual[0] == '"' && jsonString(actual) == e
	case *expectedObject:
		return actual[0] == '{' && p.equalObjects(e, actual, b)
	case []any:
		if p.anyOrder {
			return actual[0] == '[' && p.equalSets(e, actual, b)
		}
		return actual[0] == '[' && p.equalLists(e, actual, b)
	case placeholder:
		if !b.Spend(len(actual)) {
			return false
		}
		data, ok := eval.ParseJSON(actual)
		return ok && e(data, b)
	}
	return equalNumbers(expected, actual)
}

// expectedObject has the values of its members at places that names lead to.
type expectedObject struct {
	places map[string]int
	values []any
}

func (p *equalToJSON) equalObjects(expected *expectedObject, actual string, b *eval.Budget) bool {
	var few [16]bool
	found, met := 0, few[:]
	if len(expected.values) > len(few) {
		met = make([]bool, len(expected.values))
	}
	scan := scanJSON(actual, b)
	for name, value, more := scan.member(); more; name, value, more = scan.member() {
		place, ok := expected.places[name]
		switch {
		case !ok && p.extraFields:
			continue
		case !ok || !p.equal(expected.values[place], value, b):
			return false
		case !met[place]:
			met[place] = true
			found++
		}
	}
	return found == len(expected.values)
}

func (p *equalToJSON) equalLists(expected []any, actual string, b *eval.Budget) bool {
	scan := scanJSON(actual, b)
	for _, e := range expected {
		if element, more := scan.element(); !more || !p.equal(e, element, b) {
			return false
		}
	}
	_, more := scan.element()
	return !more || p.extraFields
}

// equalSets finds for every expected element one of its own, in any order.
func (p *equalToJSON) equalSets(expected []any, actual string, b *eval.Budget) bool {
	var few [16]string
	elements := few[:0]
	scan := scanJSON(actual, b)
	for element, more := scan.element(); more; element, more = scan.element() {
		elements = append(elements, element)
	}
	if len(elements) < len(expected) || len(elements) > len(expected) && !p.extraFields {
		return false
	}
	if !b.Spend(2 * len(elements)) {
		return false
	}
	owner := make([]int, len(elements)) // 1 + index of the expected element
	tried := make([]bool, len(elements))
	for i := range expected {
		clear(tried)
		if !b.Read(len(tried)) || !p.assign(i, expected, elements, owner, tried, b) {
			return false
		}
	}
	return true
}

// assign finds for an expected element an actual one, moving others if need be.
func (p *equalToJSON) assign(i int, expected []any, actual []string, owner []int, tried []bool, b *eval.Budget) bool {
	for j := range actual {
		if !b.Spend(1) {
			return false
		}
		if tried[j] || !p.equal(expected[i], actual[j], b) {
			continue
		}
		tried[j] = true
		if owner[j] == 0 || p.assign(owner[j]-1, expected, actual, owner, tried, b) {
			owner[j] = i + 1
			return true
		}
	}
	return false
}

// equalNumbers compares integers exactly, and by their text those that no
// number of Go's holds.
func equalNumbers(expected any, actual string) bool {
	if c := actual[0]; c != '-' && (c < '0' || c > '9') {
		return false
	}
	switch e := expected.(type) {
	case int64:
		if a, err := strconv.ParseInt(actual, 10, 64); err == nil {
			return e == a
		}
		return float64(e) == float(actual)
	case float64:
		return e == float(actual)
	case json.Number:
		a, ok := eval.ParseJSON(actual) // which writes exponents in its own way
		return ok && a == e
	}
	return false
}

// float reads a number; one that is too large is infinite.
func float(number string) float64 {
	f, _ := strconv.ParseFloat(number, 64)
	return f
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
	if len(data) > eval.LargestJSON {
		return nil, fmt.Errorf("it is larger than the %d bytes up to which a body counts as JSON", eval.LargestJSON)
	}
	if err := units.CheckJSON(data); err != nil {
		return nil, fmt.Errorf("it is not JSON: %v", err)
	}
	parsed, ok := eval.ParseJSON(string(data))
	if !ok {
		return nil, errors.New("it is nested too deep")
	}
	var err error
	p.text = string(compact(data))
	p.expected, err = expect(parsed)
	return p, err
}

// placeholder stands for a value that is only described.
type placeholder func(actual any, b *eval.Budget) bool

var placeholders = map[string]placeholder{
	"ignore":      func(any, *eval.Budget) bool { return true },
	"any-string":  func(actual any, _ *eval.Budget) bool { _, ok := actual.(string); return ok },
	"any-boolean": func(actual any, _ *eval.Budget) bool { _, ok := actual.(bool); return ok },
	"any-number": func(actual any, _ *eval.Budget) bool {
		switch actual.(type) {
		case int64, float64, json.Number:
			return true
		}
		return false
	},
}

// expect prepares JSON for being compared with: objects in a form of their own,
// and functions in the place of texts like ${json-unit.ignore}.
func expect(parsed any) (any, error) {
	var err error
	switch e := parsed.(type) {
	case string:
		if inner, ok := strings.CutPrefix(e, "${json-unit."); ok {
			return parsePlaceholder(inner)
		}
	case []any:
		for i := range e {
			if e[i], err = expect(e[i]); err != nil {
				return nil, err
			}
		}
	case *eval.Object:
		object := &expectedObject{places: make(map[string]int, e.Len()), values: make([]any, 0, e.Len())}
		for _, m := range e.Members {
			value, err := expect(m.Value)
			if err != nil {
				return nil, err
			}
			object.places[m.Name] = len(object.values)
			object.values = append(object.values, value)
		}
		return object, nil
	}
	return parsed, nil
}

func parsePlaceholder(inner string) (placeholder, error) {
	if source, ok := strings.CutPrefix(inner, "regex}"); ok {
		re, err := eval.CompileLines(source)
		return matchesText(re), err
	}
	p, ok := placeholders[strings.TrimSuffix(inner, "}")]
	if !ok {
		return nil, fmt.Errorf("the placeholder '${json-unit.%s' is not supported", inner)
	}
	return p, nil
}

func matchesText(re *eval.Regexp) placeholder {
	return func(actual any, b *eval.Budget) bool {
		text, ok := actual.(string)
		return ok && re.Match(text, b)
	}
}
