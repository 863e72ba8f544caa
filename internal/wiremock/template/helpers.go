// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// helper is a function that templates can call.
type helper struct {
	least, most int      // how many arguments it takes; most < 0: any number
	named       []string // the named arguments that it takes
	compile     func(c *call) (evaluator, error)
}

// helpers is every helper by its name.
var helpers = merge(
	comparisons,
	randomHelpers,
	textHelpers,
	map[string]helper{
		"jsonPath": {2, 2, []string{"default"}, compileJSONPath},
		"now":      {0, 0, []string{"offset", "format", "timezone"}, compileNow},
		"math":     {3, 3, nil, compileMath},
		"size":     {1, 1, nil, compileSize},
	},
)

func merge(groups ...map[string]helper) map[string]helper {
	all := make(map[string]helper)
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}

// compile checks the arguments against what the helper takes.
func (c *call) compile(h helper) (evaluator, error) {
	if len(c.args) < h.least || h.most >= 0 && len(c.args) > h.most {
		return nil, fmt.Errorf("%s takes %s, got %d", c.name, h.takes(), len(c.args))
	}
	for name := range c.named {
		if !slices.Contains(h.named, name) {
			return nil, fmt.Errorf("%s does not support %s=", c.name, name)
		}
	}
	value, err := h.compile(c)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		if !s.budget.Spend(1) {
			return nil
		}
		return value(s)
	}, nil
}

func (h helper) takes() string {
	switch {
	case h.most < 0:
		return fmt.Sprintf("at least %d arguments", h.least)
	case h.most == h.least:
		return fmt.Sprintf("%d arguments", h.least)
	}
	return fmt.Sprintf("%d to %d arguments", h.least, h.most)
}

// option returns the evaluator of a named argument, or of its default.
func (c *call) option(name string, otherwise any) evaluator {
	if o, ok := c.named[name]; ok {
		return o.value
	}
	return constant(otherwise)
}

// known returns an argument that has to be a plain text because it is compiled.
func (c *call) known(what string, o operand) (string, error) {
	if text, ok := o.literal.(string); ok {
		return text, nil
	}
	return "", fmt.Errorf("%s needs its %s as a plain text, got %s", c.name, what, o.text)
}

// knownOption is the same for a named argument that may be missing.
func (c *call) knownOption(name string) (text string, given bool, err error) {
	o, given := c.named[name]
	if !given {
		return "", false, nil
	}
	text, err = c.known(name, o)
	return text, true, err
}

// problem is what WireMock writes in the place of a value that it cannot make.
func problem(format string, args ...any) string {
	return "[ERROR: " + fmt.Sprintf(format, args...) + "]"
}

// comparisons are helpers that can open a block: {{#eq a b}}…{{else}}…{{/eq}}.
var comparisons = map[string]helper{
	"eq":  comparison(2, func(v []any, b *eval.Budget) bool { return equal(v[0], v[1], b) }),
	"neq": comparison(2, func(v []any, b *eval.Budget) bool { return !equal(v[0], v[1], b) }),
	"gt":  comparison(2, func(v []any, b *eval.Budget) bool { return order(v[0], v[1], b) > 0 }),
	"gte": comparison(2, func(v []any, b *eval.Budget) bool { return order(v[0], v[1], b) >= 0 }),
	"lt":  comparison(2, func(v []any, b *eval.Budget) bool { return order(v[0], v[1], b) < 0 }),
	"lte": comparison(2, func(v []any, b *eval.Budget) bool { return order(v[0], v[1], b) <= 0 }),
	"and": comparison(2, func(v []any, _ *eval.Budget) bool { return truthy(v[0]) && truthy(v[1]) }),
	"or":  comparison(2, func(v []any, _ *eval.Budget) bool { return truthy(v[0]) || truthy(v[1]) }),
	"not": comparison(1, func(v []any, _ *eval.Budget) bool { return !truthy(v[0]) }),
}

// comparison returns a helper whose value is true or false, or that of yes= and no=.
func comparison(arguments int, holds func(values []any, b *eval.Budget) bool) helper {
	return helper{arguments, arguments, []string{"yes", "no"}, func(c *call) (evaluator, error) {
		yes, no := c.option("yes", true), c.option("no", false)
		return func(s *scope) any {
			values := make([]any, len(c.args))
			for i, arg := range c.args {
				values[i] = first(arg.value(s))
			}
			if holds(values, s.budget) {
				return yes(s)
			}
			return no(s)
		}, nil
	}}
}

// equal compares as Java's equals: a number never equals a text.
func equal(a, b any, budget *eval.Budget) bool {
	if isNumber(a) && isNumber(b) {
		return order(a, b, budget) == 0
	}
	return eval.Equal(a, b, budget)
}

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64, json.Number:
		return true
	}
	return false
}

// order compares numbers by size and anything else by its text.
func order(a, b any, budget *eval.Budget) int {
	x, ok := number(a)
	y, both := number(b)
	if ok && both {
		return cmp.Compare(x, y)
	}
	return strings.Compare(toText(a, budget), toText(b, budget))
}
