// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"reflect"
)

// comparisons are helpers that can open a block: {{#eq a b}}…{{else}}…{{/eq}}.
var comparisons = map[string]helper{
	"eq":  comparison(2, func(v []any) bool { return equal(v[0], v[1]) }),
	"neq": comparison(2, func(v []any) bool { return !equal(v[0], v[1]) }),
	"gt":  comparison(2, func(v []any) bool { return order(v[0], v[1]) > 0 }),
	"gte": comparison(2, func(v []any) bool { return order(v[0], v[1]) >= 0 }),
	"lt":  comparison(2, func(v []any) bool { return order(v[0], v[1]) < 0 }),
	"lte": comparison(2, func(v []any) bool { return order(v[0], v[1]) <= 0 }),
	"and": comparison(2, func(v []any) bool { return truthy(v[0]) && truthy(v[1]) }),
	"or":  comparison(2, func(v []any) bool { return truthy(v[0]) || truthy(v[1]) }),
	"not": comparison(1, func(v []any) bool { return !truthy(v[0]) }),
}

// comparison makes a helper that gives true or false, or what yes= and no= say.
func comparison(arguments int, holds func(values []any) bool) helper {
	return helper{arguments, arguments, []string{"yes", "no"}, func(c *call) (evaluator, error) {
		yes, no := c.option("yes", true), c.option("no", false)
		return func(s *scope) any {
			values := make([]any, len(c.args))
			for i, arg := range c.args {
				values[i] = first(arg.value(s))
			}
			if holds(values) {
				return yes(s)
			}
			return no(s)
		}, nil
	}}
}

// equal compares as Java's equals: a number never equals a text.
func equal(a, b any) bool {
	if isNumber(a) && isNumber(b) {
		return order(a, b) == 0
	}
	return reflect.DeepEqual(a, b)
}

func isNumber(value any) bool {
	switch value.(type) {
	case int64, float64, json.Number:
		return true
	}
	return false
}

// order compares numbers by size and anything else by its text.
func order(a, b any) int {
	x, ok := number(a)
	y, both := number(b)
	switch {
	case ok && both && x < y:
		return -1
	case ok && both && x > y:
		return 1
	case ok && both:
		return 0
	case toText(a) < toText(b):
		return -1
	case toText(a) > toText(b):
		return 1
	}
	return 0
}
