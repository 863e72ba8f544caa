// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// matchesJSONPath asks whether a path leads to something, or whether what it
// leads to meets a condition.
type matchesJSONPath struct {
	path *eval.Path
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
	var data any
	isJSON := false
	if v.present {
		data, isJSON = v.json()
	}
	if !isJSON {
		return p.then != nil && p.then.matches(value{budget: v.budget})
	}
	met := false
	isList := p.path.Visit(data, v.budget, func(place any) bool {
		met = p.then == nil || p.then.matches(v.asValue(place))
		return !met // the first place is enough
	})
	if met || isList && p.then == nil {
		return met
	}
	found, _ := p.path.Get(data, v.budget)
	if p.then == nil {
		return isThere(found)
	}
	if list, ok := found.([]any); ok && p.path.IsSingle() {
		for _, element := range list {
			if !v.budget.Spend(1) || p.then.matches(v.asValue(element)) {
				return true
			}
		}
	}
	return p.then.matches(v.asValue(found))
}

// isThere reports whether a path led to anything: null and what is empty is
// nothing.
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

// asValue returns what a path led to as the text that conditions look at.
func (v value) asValue(found any) value {
	switch found := found.(type) {
	case nil:
		return value{budget: v.budget}
	case string:
		v.budget.Read(len(found))
		return v.part(found)
	case []any, map[string]any:
		return v.part(string(eval.AppendJSON(nil, found, v.budget)))
	}
	return v.part(string(eval.AppendScalar(nil, found)))
}

func parseMatchesJSONPath(f *fields, data json.RawMessage) (pattern, error) {
	var expression string
	if json.Unmarshal(data, &expression) == nil {
		path, err := eval.CompilePath(expression)
		return &matchesJSONPath{path: path}, err
	}
	inner, err := newFields(f.at("matchesJsonPath"), data)
	if err != nil {
		return nil, err
	}
	if given, err := inner.into("expression", &expression); err != nil || !given {
		return nil, errors.Join(err, errors.New("the expression is missing"))
	}
	path, err := eval.CompilePath(expression)
	if err != nil {
		return nil, err
	}
	then, err := inner.pattern()
	if err != nil {
		return nil, err
	}
	return &matchesJSONPath{path, then}, inner.done()
}
