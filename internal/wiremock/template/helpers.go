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
	block       bool // the text in a block can be its last argument
}

// helpers is every helper by its name.
var helpers = merge(
	comparisons,
	randomHelpers,
	textHelpers,
	moreTextHelpers,
	dateHelpers,
	numberHelpers,
	jsonHelpers,
	xmlHelpers,
	listHelpers,
	map[string]helper{
		"math":        {least: 3, most: 3, compile: compileMath},
		"size":        {least: 1, most: 1, compile: compileSize},
		"lookup":      {least: 2, most: 2, compile: compileLookup},
		"log":         {least: 0, most: -1, compile: func(*call) (evaluator, error) { return constant(nil), nil }},
		"hostname":    {least: 0, most: 0, compile: compileHostname},
		"systemValue": {least: 0, most: 0, named: []string{"type", "key", "default"}, compile: compileSystemValue},
	},
)

func merge(groups ...map[string]helper) map[string]helper {
	all := make(map[string]helper)
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}

// notHere are named arguments that helpers of WireMock's look at. It ignores others.
var notHere = []string{"locale", "tz", "time"}

// compile checks the arguments against what the helper takes.
func (c *call) compile(h helper) (evaluator, error) {
	if len(c.args) < h.least || h.most >= 0 && len(c.args) > h.most {
		return nil, fmt.Errorf("%s takes %s, got %d", c.name, h.takes(), len(c.args))
	}
	for _, name := range slices.Sorted(maps.Keys(c.named)) {
		switch {
		case slices.Contains(h.named, name):
		case slices.Contains(notHere, name):
			return nil, fmt.Errorf("%s does not support %s=", c.name, name)
		default:
			c.names.ignored = append(c.names.ignored, c.name+" "+name+"=")
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

// longestDynamic bounds what is compiled for each request, in bytes, and
// perDynamic is what it costs.
const (
	longestDynamic = 4096
	perDynamic     = 64
)

// compiled returns what an argument is compiled to: once if it is a plain text,
// otherwise for each request.
func compiled[T any](c *call, what string, o operand, compile func(string) (T, error)) (func(s *scope) (T, error), error) {
	if o.isKnown {
		text, err := c.known(what, o)
		if err != nil {
			return nil, err
		}
		value, err := compile(text)
		return func(*scope) (T, error) { return value, nil }, err
	}
	return func(s *scope) (value T, err error) {
		text := toText(o.value(s), s.budget)
		if len(text) > longestDynamic || !s.budget.Spend(perDynamic*(1+len(text))) {
			return value, fmt.Errorf("the %s is too long", what)
		}
		return compile(text)
	}, nil
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
	"and": comparison(-2, func(v []any, _ *eval.Budget) bool { return !slices.ContainsFunc(v, falsy) }),
	"or":  comparison(-2, func(v []any, _ *eval.Budget) bool { return slices.ContainsFunc(v, truthy) }),
	"not": comparison(1, func(v []any, _ *eval.Budget) bool { return !truthy(v[0]) }),
}

// comparison returns a helper whose value is true or false, or that of yes= and no=.
func comparison(arguments int, holds func(values []any, b *eval.Budget) bool) helper {
	most := arguments
	if arguments < 0 { // or more
		arguments, most = -arguments, -1
	}
	return helper{least: arguments, most: most, named: []string{"yes", "no"}, compile: func(c *call) (evaluator, error) {
		yes, no := c.option("yes", true), c.option("no", false)
		return func(s *scope) any {
			values := make([]any, len(c.args))
			for i, arg := range c.args {
				values[i] = first(arg.value(s), s.budget)
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

func falsy(value any) bool { return !truthy(value) }

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64, json.Number:
		return true
	}
	return false
}

// order compares numbers by size and anything else by its text, two texts that
// are numbers as well.
func order(a, b any, budget *eval.Budget) int {
	if isNumber(a) != isNumber(b) || isNumber(a) {
		if c, ok := orderNumbers(a, b); ok {
			return c
		}
	}
	return strings.Compare(toText(a, budget), toText(b, budget))
}

func orderNumbers(a, b any) (c int, ok bool) {
	x, ok := number(a)
	y, both := number(b)
	return cmp.Compare(x, y), ok && both
}
