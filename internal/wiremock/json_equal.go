// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ohler55/ojg/oj"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/jsonpath"
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
	return v.present && v.isJSON() && p.equal(p.expected, strings.TrimSpace(v.text))
}

func (p *equalToJSON) equal(expected any, actual string) bool {
	switch e := expected.(type) {
	case nil:
		return actual == "null"
	case bool:
		return actual == strconv.FormatBool(e)
	case string:
		return actual[0] == '"' && jsonString(actual) == e
	case *expectedObject:
		return actual[0] == '{' && p.equalObjects(e, actual)
	case []any:
		if p.anyOrder {
			return actual[0] == '[' && p.equalSets(e, actual)
		}
		return actual[0] == '[' && p.equalLists(e, actual)
	case placeholder:
		data, ok := jsonpath.Parse(actual)
		return ok && e(data)
	}
	return equalNumbers(expected, actual)
}

// expectedObject has the values of its members at places that names lead to.
type expectedObject struct {
	places map[string]int
	values []any
}

func (p *equalToJSON) equalObjects(expected *expectedObject, actual string) bool {
	var few [16]bool
	found, met := 0, few[:]
	if len(expected.values) > len(few) {
		met = make([]bool, len(expected.values))
	}
	scan := scanJSON(actual)
	for name, value, more := scan.member(); more; name, value, more = scan.member() {
		place, ok := expected.places[name]
		switch {
		case !ok && p.extraFields:
			continue
		case !ok || !p.equal(expected.values[place], value):
			return false
		case !met[place]:
			met[place] = true
			found++
		}
	}
	return found == len(expected.values)
}

func (p *equalToJSON) equalLists(expected []any, actual string) bool {
	scan := scanJSON(actual)
	for _, e := range expected {
		if element, more := scan.element(); !more || !p.equal(e, element) {
			return false
		}
	}
	_, more := scan.element()
	return !more || p.extraFields
}

// equalSets finds for every expected element one of its own, in any order.
func (p *equalToJSON) equalSets(expected []any, actual string) bool {
	var few [16]string
	elements := few[:0]
	scan := scanJSON(actual)
	for element, more := scan.element(); more; element, more = scan.element() {
		elements = append(elements, element)
	}
	if len(elements) < len(expected) || len(elements) > len(expected) && !p.extraFields {
		return false
	}
	owner := make([]int, len(elements)) // 1 + index of the expected element
	tried := make([]bool, len(elements))
	for i := range expected {
		clear(tried)
		if !p.assign(i, expected, elements, owner, tried) {
			return false
		}
	}
	return true
}

// assign gives an expected element an actual one, moving others if need be.
func (p *equalToJSON) assign(i int, expected []any, actual []string, owner []int, tried []bool) bool {
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
		return actual == string(e)
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
	if len(data) > jsonpath.Largest {
		return nil, fmt.Errorf("it is larger than the %d bytes up to which a body counts as JSON", jsonpath.Largest)
	}
	parsed, err := oj.Parse(data)
	if err != nil || strings.TrimSpace(string(data)) == "" {
		return nil, fmt.Errorf("it is not JSON: %v", err)
	}
	p.text = string(compact(data))
	p.expected, err = expect(parsed)
	return p, err
}
