// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// test is a compiled filter: whether a value stays.
type test func(w *walker, value any) bool

// operand is one side of a comparison: the values that it stands for, of which
// any may meet it. What is not there is missing.
type operand func(w *walker, value any) []any

// missing stands for a value that is not there, which is not null.
type missing struct{}

func literal(value any) operand {
	values := []any{value}
	return func(*walker, any) []any { return values }
}

// valuesOf returns the operand of a path; `@` begins at the value itself and
// `$` at the whole document.
func valuesOf(p *Path, fromRoot bool) operand {
	return func(w *walker, value any) []any {
		if fromRoot {
			value = w.root
		}
		found, ok := p.get(value, w.root, w.budget)
		if !ok {
			return []any{missing{}}
		}
		if list, many := found.([]any); many && !p.single && !p.length {
			if len(list) == 0 {
				return []any{missing{}}
			}
			return list
		}
		return []any{found}
	}
}

// exists is the test of a path by itself.
func exists(o operand) test {
	return func(w *walker, value any) bool {
		found := o(w, value)
		return found[0] != any(missing{})
	}
}

// comparison is met by any pair of values of both sides.
func comparison(left, right operand, holds func(a, b any, budget *Budget) bool) test {
	return func(w *walker, value any) bool {
		others := right(w, value)
		for _, a := range left(w, value) {
			for _, b := range others {
				if !w.budget.Spend(1) {
					return false
				}
				if holds(a, b, w.budget) {
					return true
				}
			}
		}
		return false
	}
}

// comparisons are the operators of filters, but for =~.
var comparisons = map[string]func(a, b any, budget *Budget) bool{
	"==": Equal,
	"!=": func(a, b any, budget *Budget) bool { return !Equal(a, b, budget) },
	"<":  func(a, b any, _ *Budget) bool { c, ok := order(a, b); return ok && c < 0 },
	"<=": func(a, b any, _ *Budget) bool { c, ok := order(a, b); return ok && c <= 0 },
	">":  func(a, b any, _ *Budget) bool { c, ok := order(a, b); return ok && c > 0 },
	">=": func(a, b any, _ *Budget) bool { c, ok := order(a, b); return ok && c >= 0 },
	"in": isIn,
}

func isIn(a, b any, budget *Budget) bool {
	list, ok := b.([]any)
	return ok && slices.ContainsFunc(list, func(element any) bool { return Equal(a, element, budget) })
}

// empty is the test `path empty true`.
func empty(o operand, want bool) test {
	return func(w *walker, value any) bool {
		n, ok := lengthOf(o(w, value)[0])
		return ok && want == (n == int64(0))
	}
}

// matching is the test `path =~ /pattern/`.
func matching(o operand, re *Regexp) test {
	return func(w *walker, value any) bool {
		return slices.ContainsFunc(o(w, value), func(found any) bool {
			text, ok := found.(string)
			return ok && re.Match(text, w.budget)
		})
	}
}

// Equal reports whether two values of JSON are the same: numbers by what they
// are worth, lists and objects by what is in them.
func Equal(a, b any, budget *Budget) bool {
	if !budget.Spend(1) {
		return false
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(x, y any) bool { return Equal(x, y, budget) })
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, x := range a {
			if y, ok := b[name]; !ok || !Equal(x, y, budget) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && len(a) == len(b) && budget.Read(len(a)) && a == b
	}
	if c, ok := order(a, b); ok {
		return c == 0
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// order compares two numbers or two texts.
func order(a, b any) (c int, ok bool) {
	if x, isText := a.(string); isText {
		y, isText := b.(string)
		return cmp.Compare(x, y), isText
	}
	if x, isWhole := a.(int64); isWhole {
		if y, isWhole := b.(int64); isWhole {
			return cmp.Compare(x, y), true
		}
	}
	x, isNumber := float(a)
	y, both := float(b)
	return cmp.Compare(x, y), isNumber && both
}

func float(value any) (f float64, ok bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, _ = strconv.ParseFloat(string(v), 64) // too large is infinite
		return f, true
	}
	return 0, false
}
