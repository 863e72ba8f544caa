// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/simulator/wiremock/javaregexp"
)

// placeholder stands for a value that is only described.
type placeholder func(actual any) bool

var placeholders = map[string]placeholder{
	"ignore":      func(any) bool { return true },
	"any-string":  func(actual any) bool { _, ok := actual.(string); return ok },
	"any-boolean": func(actual any) bool { _, ok := actual.(bool); return ok },
	"any-number": func(actual any) bool {
		_, isLarge := actual.(json.Number)
		_, ok := float(actual)
		return ok || isLarge
	},
}

// withPlaceholders puts functions in the place of texts like ${json-unit.ignore}.
func withPlaceholders(expected any) (any, error) {
	var err error
	switch e := expected.(type) {
	case string:
		inner, ok := strings.CutPrefix(e, "${json-unit.")
		if !ok {
			return e, nil
		}
		return parsePlaceholder(inner)
	case []any:
		for i := range e {
			if e[i], err = withPlaceholders(e[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range e {
			if e[name], err = withPlaceholders(e[name]); err != nil {
				return nil, err
			}
		}
	}
	return expected, nil
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
