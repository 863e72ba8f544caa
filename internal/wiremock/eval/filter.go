// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// test is a compiled filter, or a part of one.
type test func(e *environment, item any) verdict

// verdict is what came of a test. One that is broken, since an operator cannot
// be used with what it was given, makes the filter refuse the value whatever
// the other tests say.
type verdict int

const (
	no verdict = iota
	yes
	broken
)

func verdictOf(is bool) verdict {
	if is {
		return yes
	}
	return no
}

func (v verdict) opposite() verdict {
	if v == broken {
		return broken
	}
	return verdictOf(v == no)
}

// operator compares the two sides of a test.
type operator func(left, right *node, e *environment) verdict

// compare returns the test of an operator.
func compare(left, right operand, holds operator) test {
	return func(e *environment, item any) verdict {
		l, r := left.node(e, item), right.node(e, item)
		if e.failed || !e.budget.Spend(1) {
			return no
		}
		return holds(l, r, e)
	}
}

// operators are those of filters. The last ones are there with Jayway's
// implementation, but nothing that can be written in a filter satisfies them.
var operators = map[string]operator{
	"==":       func(l, r *node, e *environment) verdict { return verdictOf(l.same(r, e.budget)) },
	"!=":       func(l, r *node, e *environment) verdict { return verdictOf(!l.same(r, e.budget)) },
	"===":      func(l, r *node, e *environment) verdict { return verdictOf(l.strictlySame(r, e.budget)) },
	"!==":      func(l, r *node, e *environment) verdict { return verdictOf(!l.strictlySame(r, e.budget)) },
	"<":        ordered(func(c int) bool { return c < 0 }),
	"<=":       ordered(func(c int) bool { return c <= 0 }),
	">":        ordered(func(c int) bool { return c > 0 }),
	">=":       ordered(func(c int) bool { return c >= 0 }),
	"=~":       matching,
	"IN":       isIn,
	"NIN":      func(l, r *node, e *environment) verdict { return isIn(l, r, e).opposite() },
	"CONTAINS": holding,
	"SUBSETOF": sets(isSubset),
	"ANYOF":    sets(haveCommon),
	"NONEOF":   sets(haveNoneCommon),
	"SIZE":     hasSize,
	"EMPTY":    isEmpty,
	"EXISTS":   isSetTo,
	"ALL":      func(*node, *node, *environment) verdict { return broken },
	"TYPE":     func(*node, *node, *environment) verdict { return broken },
	"MATCHES":  func(*node, *node, *environment) verdict { return broken },
}

// strictlySame is the operator ===: a number is no text.
func (n *node) strictlySame(other *node, b *Budget) bool {
	kinds := n.kind == other.kind || n.isStructure() && other.isStructure()
	return kinds && n.same(other, b)
}

func ordered(holds func(c int) bool) operator {
	return func(l, r *node, _ *environment) verdict {
		c, ok := l.compareOrder(r)
		return verdictOf(ok && holds(c))
	}
}

// matching is `=~`: one side is a pattern, the other a value or a list of which
// one has to match.
func matching(l, r *node, e *environment) verdict {
	if l.kind == isPattern {
		l, r = r, l
	}
	if r.kind != isPattern || l.kind == isPattern {
		return no
	}
	elements, isList := l.list(e)
	if !isList {
		return verdictOf(r.re.Match(l.subject(), e.budget))
	}
	return verdictOf(slices.ContainsFunc(elements, func(n *node) bool { return r.re.Match(n.subject(), e.budget) }))
}

// subject returns the text that patterns are matched with: none for null, what
// is not there, and structures.
func (n *node) subject() string {
	switch n.kind {
	case isText:
		return n.text
	case isNumber:
		return n.numeral()
	case isBool:
		return strconv.FormatBool(n.value.(bool))
	case isNothing, isNull, isJSON, isSource, isPattern, isPath:
	}
	return ""
}

func isIn(l, r *node, e *environment) verdict {
	if !r.isStructure() {
		return broken
	}
	elements, isList := r.list(e)
	return verdictOf(isList && contains(elements, l, e))
}

func contains(elements []*node, wanted *node, e *environment) bool {
	return slices.ContainsFunc(elements, func(n *node) bool { return wanted.equals(n, e.budget) })
}

// holding is `contains`: a text within a text, or an element of a list.
func holding(l, r *node, e *environment) verdict {
	if l.kind == isText && r.kind == isText {
		return verdictOf(e.budget.Read(len(l.text)) && strings.Contains(l.text, r.text))
	}
	elements, isList := l.list(e)
	return verdictOf(isList && contains(elements, r, e))
}

// sets returns an operator on two lists; with anything else it is not met.
func sets(holds func(left, right []*node, e *environment) bool) operator {
	return func(l, r *node, e *environment) verdict {
		if !r.isStructure() {
			return broken
		}
		right, isList := r.list(e)
		if !isList {
			return no
		}
		if !l.isStructure() {
			return broken
		}
		left, isList := l.list(e)
		return verdictOf(isList && holds(left, right, e))
	}
}

func isSubset(left, right []*node, e *environment) bool {
	return !slices.ContainsFunc(left, func(n *node) bool { return !contains(right, n, e) })
}

func haveCommon(left, right []*node, e *environment) bool {
	return slices.ContainsFunc(left, func(n *node) bool { return contains(right, n, e) })
}

func haveNoneCommon(left, right []*node, e *environment) bool { return !haveCommon(left, right, e) }

// hasSize is `size`: of a text or of a list.
func hasSize(l, r *node, e *environment) verdict {
	if r.kind != isNumber {
		return no
	}
	f, _ := float(r.value)
	switch {
	case l.kind == isText:
		return verdictOf(e.budget.Read(len(l.text)) && utf16Length(l.text) == int(f))
	case l.isStructure():
		length := -1
		if list, ok := l.value.([]any); ok {
			length = len(list)
		}
		return verdictOf(length == int(f))
	}
	return no
}

// isEmpty is `empty`: of a text or of a list. With an object Jayway's
// implementation fails.
func isEmpty(l, r *node, e *environment) verdict {
	length := len(l.text)
	switch {
	case l.isStructure():
		list, isList := l.value.([]any)
		if e.failed = e.failed || !isList; e.failed {
			return no
		}
		length = len(list)
	case l.kind != isText:
		return no
	}
	if r.kind != isBool {
		return broken
	}
	return verdictOf((length == 0) == r.value)
}

// isSetTo is `exists`, which asks whether the value is true or false.
func isSetTo(l, r *node, e *environment) verdict {
	switch {
	case l.kind == isBool && r.kind == isBool:
		return verdictOf(l.value == r.value)
	case l.kind != isBool && r.kind != isBool:
		e.failed = true
	}
	return broken
}

// Equal reports whether two values of JSON are the same: numbers by what they
// are worth, lists and objects by what is in them.
func Equal(a, b any, budget *Budget) bool { return equalBy(a, b, budget, Equal) }

// equalBy compares the elements of lists and the members of objects with equal.
func equalBy(a, b any, budget *Budget, equal func(a, b any, budget *Budget) bool) bool {
	if !budget.Spend(1) {
		return false
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(x, y any) bool { return equal(x, y, budget) })
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, m := range a.Members {
			if y, ok := b.Get(m.Name); !ok || !equal(m.Value, y, budget) {
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
	case []any, *Object:
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
