// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"

	"github.com/ohler55/ojg/oj"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/jsonpath"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/template"
)

// matchesJSONPath asks whether a path leads to something, or whether what it
// leads to meets a condition.
type matchesJSONPath struct {
	path *jsonpath.Path
	then pattern // nil: that there is something is enough
}

func (p *matchesJSONPath) String() string {
	if p.then == nil {
		return "matchesJsonPath " + p.path.String()
	}
	return "matchesJsonPath " + p.path.String() + " " + p.then.String()
}

func (p *matchesJSONPath) matches(v value) bool {
	if v.present && v.text == "" {
		return false // no path leads anywhere, not even to what is absent
	}
	var found any
	if v.present {
		if data, ok := v.json(); ok {
			found, _ = p.path.Get(data)
		}
	}
	if p.then == nil {
		return isThere(found)
	}
	if list, ok := found.([]any); ok {
		for _, element := range list {
			if p.then.matches(asValue(element)) {
				return true
			}
		}
	}
	return p.then.matches(asValue(found))
}

// isThere tells whether a path led to anything: null and what is empty is nothing.
func isThere(found any) bool {
	switch found := found.(type) {
	case nil:
		return false
	case []any:
		return len(found) > 0
	case map[string]any:
		return len(found) > 0
	}
	return true
}

// asValue gives what a path led to as the text that conditions look at.
func asValue(found any) value {
	switch found := found.(type) {
	case nil:
		return value{}
	case string:
		return present(found)
	case []any, map[string]any:
		return present(oj.JSON(found))
	}
	return present(template.Text(found))
}

func parseMatchesJSONPath(f *fields, data json.RawMessage) (pattern, error) {
	var expression string
	if json.Unmarshal(data, &expression) == nil {
		path, err := jsonpath.Compile(expression)
		return &matchesJSONPath{path: path}, err
	}
	inner, err := newFields(f.at("matchesJsonPath"), data)
	if err != nil {
		return nil, err
	}
	if given, err := inner.into("expression", &expression); err != nil || !given {
		return nil, errors.Join(err, errors.New("the expression is missing"))
	}
	path, err := jsonpath.Compile(expression)
	if err != nil {
		return nil, err
	}
	then, err := inner.pattern()
	if err != nil {
		return nil, err
	}
	return &matchesJSONPath{path, then}, inner.done()
}
