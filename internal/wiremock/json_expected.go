// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// expectedObject has the values of its members at places that names lead to.
type expectedObject struct {
	places map[string]int
	names  []string
	values []any
}

// place returns where the expected member of a name is. Where it is likely to be
// is looked at first: most of the time members come in the same order.
func (o *expectedObject) place(name string, likely int) (place int, ok bool) {
	if likely < len(o.names) && o.names[likely] == name {
		return likely, true
	}
	place, ok = o.places[name]
	return place, ok
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
			object.names = append(object.names, m.Name)
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
