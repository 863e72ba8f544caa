// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"strings"

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
	var data any
	isJSON := false
	if v.present {
		data, isJSON = v.json()
	}
	switch {
	case v.present && (isJSON && data == nil || !isJSON && leadsNowhere(v.text)):
		return false
	case !isJSON:
		return p.isAbsent(v)
	}
	if _, whole := p.then.(*equalToJSON); !whole && p.path.IsList() {
		met, none := false, true
		outcome := p.path.Visit(data, v.budget, func(place any) bool {
			none = false
			met = p.then == nil || p.then.matches(v.elementValue(place))
			return !met // the first place is enough
		})
		return outcome != eval.Failed && (met || none && p.isAbsent(v))
	}
	found, outcome := v.at(p.path, data)
	switch {
	case outcome == eval.Failed:
		return false
	case outcome == eval.Nothing || found == nil:
		return p.isAbsent(v)
	case p.then == nil:
		return isThere(found)
	}
	return p.thenMatches(v, found)
}

// leadsNowhere reports whether no path leads anywhere in a text that is no JSON, not
// even to what is absent: it is empty, XML, or broken JSON. To WireMock others are
// texts in which nothing is.
func leadsNowhere(text string) bool {
	begin := strings.TrimSpace(text)
	return text == "" || begin != "" && strings.IndexByte("<{[", begin[0]) >= 0
}

// at returns what a path leads to. Of a body that many mappings look at, a place is
// looked for once as long as they ask for the same one.
func (v value) at(path *eval.Path, data any) (any, eval.Outcome) {
	d := v.body
	if d == nil {
		return path.Get(data, v.budget)
	}
	if text := path.String(); d.place != text || text == "" {
		d.place = text
		d.found, d.outcome = path.Get(data, v.budget)
	}
	return d.found, d.outcome
}

// isAbsent reports whether the condition is that there is nothing.
func (p *matchesJSONPath) isAbsent(v value) bool {
	_, isAbsent := p.then.(absent)
	return isAbsent && p.then.matches(value{budget: v.budget})
}

// thenMatches looks at what a path led to: one of the elements of a list has to
// meet the condition, but for equalToJson, which is for all of the list.
func (p *matchesJSONPath) thenMatches(v value, found any) bool {
	list, isList := found.([]any)
	if _, whole := p.then.(*equalToJSON); !isList || whole {
		return p.then.matches(v.asValue(found))
	}
	for _, element := range list {
		if !v.budget.Spend(1) || p.then.matches(v.elementValue(element)) {
			return true
		}
	}
	return len(list) == 0 && p.isAbsent(v)
}

// isThere reports whether a path led to anything: null and what is empty is
// nothing.
func isThere(found any) bool {
	switch found := found.(type) {
	case nil:
		return false
	case []any:
		return len(found) > 0
	case *eval.Object:
		return found.Len() > 0
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
	case []any, *eval.Object:
		return v.part(string(eval.AppendIndented(nil, found, v.budget)))
	}
	return v.part(string(eval.AppendScalar(nil, found)))
}

// elementValue returns an element of a list as Java's String.valueOf does: an
// object is {name=value}.
func (v value) elementValue(element any) value {
	switch element := element.(type) {
	case []any:
		return v.part(string(eval.AppendJSON(nil, element, v.budget)))
	case *eval.Object:
		return v.part(string(eval.AppendJava(nil, element, v.budget)))
	}
	return v.asValue(element)
}

func parseMatchesJSONPath(f *fields, data json.RawMessage) (pattern, error) {
	var expression string
	if json.Unmarshal(data, &expression) == nil {
		path, err := eval.CompilePath(expression)
		return &matchesJSONPath{path: path}, err
	}
	inner, err := f.inside("matchesJsonPath", data)
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
	if err == nil && then == nil {
		err = inner.done()
	}
	return &matchesJSONPath{path, then}, err
}
