// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/javaregexp"
)

func compileContains(c *call) (evaluator, error) {
	return func(s *scope) any {
		wanted := c.text(s, 1)
		if list, ok := c.args[0].value(s).([]any); ok {
			for _, element := range list {
				if toText(element) == wanted {
					return true
				}
			}
			return false
		}
		return strings.Contains(c.text(s, 0), wanted)
	}, nil
}

func compileMatches(c *call) (evaluator, error) {
	pattern, err := c.known("pattern", c.args[1])
	if err != nil {
		return nil, err
	}
	re, err := javaregexp.CompileWhole(pattern)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any { return re.MatchString(c.text(s, 0)) }, nil
}

func compileRegexExtract(c *call) (evaluator, error) {
	pattern, err := c.known("pattern", c.args[1])
	if err != nil {
		return nil, err
	}
	re, err := javaregexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	otherwise := c.option("default", problem("Nothing matched %s", pattern))
	return func(s *scope) any {
		text := c.text(s, 0)
		if found := re.FindStringIndex(text); found != nil {
			return text[found[0]:found[1]]
		}
		return otherwise(s)
	}, nil
}
