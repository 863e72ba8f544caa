// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"encoding/json"
	"math/big"
	"strings"
)

// node is a value in a filter. Which kinds equal one another, and in which
// order, is Jayway's doing.
type node struct {
	kind  kind
	text  string // of a text, or what was written for a number, a list or an object
	value any    // of a number, a truth value, a list or an object
	re    *Regexp
}

type kind int

const (
	isNothing kind = iota // a path that leads nowhere, which is not null
	isNull
	isBool
	isNumber
	isText
	isJSON    // a list or an object of the document
	isSource  // one that is written as text, in the filter or in the document
	isPattern // only in the filter
	isPath    // a text of the document that looks like one
)

// operand is one side of a comparison.
type operand struct {
	path     *Path
	fromRoot bool // the path begins with $
	plain    *node
}

// node returns what an operand stands for. Paths from the root are followed once.
func (o operand) node(e *environment, item any) *node {
	switch {
	case o.path == nil:
		return o.plain
	case !o.fromRoot:
		return o.follow(e, item)
	}
	known, ok := e.known[o.path]
	if !ok {
		known = o.follow(e, e.root)
		if e.known == nil {
			e.known = make(map[*Path]*node)
		}
		e.known[o.path] = known
	}
	return known
}

func (o operand) follow(e *environment, from any) *node {
	value, outcome := o.path.get(from, e)
	if outcome != Found {
		return new(node)
	}
	return newNode(value)
}

// newNode returns the node of a value that a path led to.
func newNode(value any) *node {
	switch v := value.(type) {
	case nil:
		return &node{kind: isNull}
	case bool:
		return &node{kind: isBool, value: v}
	case string:
		return &node{kind: isText, text: v}
	case []any, *Object:
		return &node{kind: isJSON, value: v}
	}
	return &node{kind: isNumber, value: value}
}

// newElement returns the node of an element of a list, where texts are read
// again; nil if there can be none.
func newElement(value any) *node {
	text, ok := value.(string)
	if !ok {
		n := newNode(value)
		if n.kind == isJSON {
			return nil
		}
		return n
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "$" || trimmed == "@" || len(trimmed) > 1 && strings.IndexByte("$@", trimmed[0]) >= 0 && strings.IndexByte(".[", trimmed[1]) >= 0:
		return &node{kind: isPath, text: text}
	case isWithin(trimmed, '[', ']') || isWithin(trimmed, '{', '}'):
		return &node{kind: isSource, text: text}
	case isWithin(text, '\'', '\'') || isWithin(text, '"', '"'):
		text = text[1 : len(text)-1]
	}
	if plain, err := unescape(text); err == nil {
		text = plain
	}
	return &node{kind: isText, text: text}
}

func isWithin(text string, first, last byte) bool {
	return len(text) > 1 && text[0] == first && text[len(text)-1] == last
}

// list returns the elements of a node that is a list. Evaluation fails where one
// of them is a list or an object.
func (n *node) list(e *environment) (elements []*node, isList bool) {
	list, ok := n.value.([]any)
	if !ok {
		return nil, false
	}
	if !e.budget.Spend(kept * len(list)) {
		return nil, true
	}
	for _, element := range list {
		next := newElement(element)
		if next == nil {
			e.failed = true
			return nil, true
		}
		elements = append(elements, next)
	}
	return elements, true
}

// isStructure reports whether a node is a list or an object.
func (n *node) isStructure() bool { return n.kind == isJSON || n.kind == isSource }

// number returns what is written of a number, as Java's BigDecimal does.
func (n *node) numeral() string {
	if n.text != "" {
		return n.text
	}
	text := string(AppendScalar(nil, n.value))
	mantissa, exponent, found := strings.Cut(text, "E")
	if !found {
		return text
	}
	if !strings.HasPrefix(exponent, "-") {
		return mantissa + "E+" + exponent
	}
	if len(exponent) == 2 && exponent < "-7" { // plain down to a millionth
		sign, digits := "", strings.Replace(mantissa, ".", "", 1)
		digits, negative := strings.CutPrefix(digits, "-")
		if negative {
			sign = "-"
		}
		return sign + "0." + strings.Repeat("0", int(exponent[1]-'1')) + digits
	}
	return text
}

// equals is Java's equals of two nodes, in this order.
func (n *node) equals(other *node, b *Budget) bool {
	if !b.Spend(1) {
		return false
	}
	switch n.kind {
	case isNull:
		return other.kind == isNull
	case isBool:
		return other.kind == isBool && n.value == other.value
	case isNumber:
		return n.equalsNumber(other)
	case isText:
		if other.kind == isNumber {
			return n.text == other.numeral()
		}
		return other.kind == isText && b.Read(len(n.text)) && n.text == other.text
	case isJSON:
		return other.kind == isJSON && identical(n.value, other.value, b)
	case isSource:
		return other.kind == isSource && b.Read(len(n.text)) && n.text == other.text
	case isNothing, isPattern, isPath:
	}
	return false
}

func (n *node) equalsNumber(other *node) bool {
	if other.kind == isText {
		value, ok := readNumber(other.text)
		return ok && compareNumbers(n.value, value) == 0
	}
	return other.kind == isNumber && compareNumbers(n.value, other.value) == 0
}

// same is the operator ==: of two structures the first has to be the document's.
func (n *node) same(other *node, b *Budget) bool {
	if n.isStructure() && other.isStructure() {
		return n.kind == isJSON && identical(n.value, other.value, b)
	}
	return n.equals(other, b)
}

// identical reports whether two values of JSON are the same; a whole number and
// one with a fraction never are.
func identical(a, b any, budget *Budget) bool {
	_, aWhole := a.(int64)
	_, bWhole := b.(int64)
	if aWhole != bWhole {
		return false
	}
	return equalBy(a, b, budget, identical)
}

// compareNumbers compares whole numbers exactly.
func compareNumbers(a, b any) int {
	if c, ok := order(a, b); ok && c != 0 {
		return c
	}
	x, isLarge := a.(json.Number)
	y, bothLarge := b.(json.Number)
	if isLarge && bothLarge && len(x) < mostDigits && len(y) < mostDigits {
		m, ok := new(big.Int).SetString(string(x), 10)
		n, both := new(big.Int).SetString(string(y), 10)
		if ok && both {
			return m.Cmp(n)
		}
	}
	c, _ := order(a, b)
	return c
}

// mostDigits is of how many digits numbers are compared exactly.
const mostDigits = 1000

// compareOrder compares two numbers or two texts.
func (n *node) compareOrder(other *node) (c int, ok bool) {
	switch {
	case n.kind == isNumber && other.kind == isNumber:
		return compareNumbers(n.value, other.value), true
	case n.kind == isText && other.kind == isText:
		return cmp.Compare(n.text, other.text), true
	}
	return 0, false
}

// utf16Length returns the length of a text as Java counts it.
func utf16Length(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}
