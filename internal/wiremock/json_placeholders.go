// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/javaregexp"
)

// placeholder stands for a value that is only described.
type placeholder func(actual any) bool

var placeholders = map[string]placeholder{
	"ignore":      func(any) bool { return true },
	"any-string":  func(actual any) bool { _, ok := actual.(string); return ok },
	"any-boolean": func(actual any) bool { _, ok := actual.(bool); return ok },
	"any-number": func(actual any) bool {
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
	case map[string]any:
		object := &expectedObject{places: make(map[string]int, len(e)), values: make([]any, 0, len(e))}
		for _, name := range slices.Sorted(maps.Keys(e)) {
			value, err := expect(e[name])
			if err != nil {
				return nil, err
			}
			object.places[name] = len(object.values)
			object.values = append(object.values, value)
		}
		return object, nil
	}
	return parsed, nil
}

func parsePlaceholder(inner string) (placeholder, error) {
	if source, ok := strings.CutPrefix(inner, "regex}"); ok {
		re, err := javaregexp.CompileLines(source)
		return matchesText(re), err
	}
	p, ok := placeholders[strings.TrimSuffix(inner, "}")]
	if !ok {
		return nil, fmt.Errorf("the placeholder '${json-unit.%s' is not supported", inner)
	}
	return p, nil
}

func matchesText(re *regexp.Regexp) placeholder {
	return func(actual any) bool {
		text, ok := actual.(string)
		return ok && re.MatchString(text)
	}
}
