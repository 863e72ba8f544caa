// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/antchfx/xpath"
)

// XPath is a compiled XPath 1.0 expression. Without namespaces names are local
// ones, whatever their prefixes; with them a name without a prefix is in none.
type XPath struct {
	text       string
	known      map[string]string // namespaces by their prefixes
	namespaces bool
	compiled   sync.Pool // of *xpath.Expr, each of which serves one request at a time
}

// longestXPath bounds expressions, in bytes: the library reads them by recursion.
const longestXPath = 10_000

// ErrNoXPath is the error of an expression that no version of XPath knows: it cannot
// be read, or it has a prefix that stands for no namespace.
var ErrNoXPath = errors.New("it is none")

// malformedXPath is what the library says of those. Of others it says that it does not
// know a function or an axis, or that they are too complex.
var malformedXPath = regexp.MustCompile(`invalid token|invalid qualified name|unclosed string|prefix .* not defined|must evaluate to a node-set|undeclared variable in XPath expression: \$|expression is nil`)

// CompileXPath reads an expression. The error names it.
func CompileXPath(text string, namespaces map[string]string) (compiled *XPath, err error) {
	defer func() { // the library panics at some
		if fault := recover(); fault != nil {
			err = fmt.Errorf("XPath '%s': %v", text, fault)
		}
	}()
	if len(text) > longestXPath {
		return nil, fmt.Errorf("the XPath is longer than %d bytes", longestXPath)
	}
	known := map[string]string{"xml": "http://www.w3.org/XML/1998/namespace"}
	maps.Copy(known, namespaces)
	expression, err := xpath.CompileWithNS(text, known)
	if err != nil && malformedXPath.MatchString(err.Error()) {
		return nil, fmt.Errorf("XPath '%s': %w: %s", text, ErrNoXPath, strings.TrimSuffix(err.Error(), "."))
	}
	if err != nil {
		return nil, fmt.Errorf("XPath '%s': %w", text, err)
	}
	compiled = &XPath{text: text, known: known, namespaces: len(namespaces) > 0}
	compiled.compiled.Put(expression)
	return compiled, nil
}

// String returns the expression as it was written.
func (x *XPath) String() string { return x.text }

// exhausted is what a navigator panics with where the budget ends: the library
// has no other way to be stopped.
type exhausted struct{}

// Find returns what an expression leads to: nodes, or one text, number or truth
// value as WireMock writes it. It may be incomplete where the budget ends.
func (x *XPath) Find(document *XML, b *Budget) (nodes []*XML, err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case exhausted:
			nodes, err = nil, errors.New("the budget has ended")
		default:
			nodes, err = nil, fmt.Errorf("XPath '%s': %v", x.text, fault)
		}
	}()
	expression, ok := x.compiled.Get().(*xpath.Expr)
	if !ok {
		if expression, err = xpath.CompileWithNS(x.text, x.known); err != nil {
			return nil, err
		}
	}
	switch found := expression.Evaluate(&navigator{root: document, at: document, aware: x.namespaces, budget: b}).(type) {
	case *xpath.NodeIterator:
		for found.MoveNext() {
			if !b.Spend(kept) {
				break
			}
			nodes = append(nodes, found.Current().(*navigator).at)
		}
	case float64:
		nodes = []*XML{{Kind: XMLText, Text: localNumber(found)}}
	case string:
		nodes = []*XML{{Kind: XMLText, Text: found}}
	case bool:
		nodes = []*XML{{Kind: XMLText, Text: strconv.FormatBool(found)}}
	}
	x.compiled.Put(expression) // not where it was stopped midway
	return nodes, nil
}

// localNumber writes a number as Java's NumberFormat: in groups of three digits,
// with three decimals at most.
func localNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.Repeat("-", min(1, int(max(0, -math.Copysign(1, f))))) + "∞"
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(math.RoundToEven(f*1000)/1000), 'f', -1, 64), ".")
	var out strings.Builder
	if f < 0 {
		out.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(digit)
	}
	if fraction != "" {
		out.WriteString("." + fraction)
	}
	return out.String()
}

// navigator is a place in a document, as the library sees it.
type navigator struct {
	root, at *XML
	aware    bool // names are looked at with their namespaces
	budget   *Budget
}

// step counts a move, and stops where there are too many.
func (n *navigator) step(cost int) {
	if !n.budget.Spend(cost) {
		panic(exhausted{})
	}
}

func (n *navigator) NodeType() xpath.NodeType {
	switch n.at.Kind {
	case XMLElement:
		return xpath.ElementNode
	case XMLAttribute:
		return xpath.AttributeNode
	case XMLText:
		return xpath.TextNode
	case XMLInstruction:
		return xpath.CommentNode
	case XMLDocument:
	}
	return xpath.RootNode
}

func (n *navigator) LocalName() string { return n.at.Name }

// Prefix returns what a name without a prefix in an expression is compared with.
func (n *navigator) Prefix() string {
	if n.aware {
		return n.at.Namespace
	}
	return ""
}

func (n *navigator) NamespaceURL() string { return n.Prefix() }

func (n *navigator) Value() string {
	value := n.at.Content(n.budget)
	n.step(1 + len(value))
	return value
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.step(1)
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() { n.at = n.root }

func (n *navigator) MoveToParent() bool { return n.move(n.at.Parent) }

func (n *navigator) MoveToNextAttribute() bool {
	attributes, next := n.at.Attrs, 0
	if n.at.Kind == XMLAttribute {
		attributes, next = n.at.Parent.Attrs, n.at.place+1
	}
	if next >= len(attributes) {
		return n.move(nil)
	}
	return n.move(attributes[next])
}

func (n *navigator) MoveToChild() bool {
	if len(n.at.Children) == 0 {
		return n.move(nil)
	}
	return n.move(n.at.Children[0])
}

func (n *navigator) MoveToFirst() bool { return n.sibling(-n.at.place) }

func (n *navigator) MoveToNext() bool { return n.sibling(1) }

func (n *navigator) MoveToPrevious() bool { return n.sibling(-1) }

// sibling moves to another child of the parent; attributes have none.
func (n *navigator) sibling(by int) bool {
	if n.at.Parent == nil || n.at.Kind == XMLAttribute {
		return n.move(nil)
	}
	to := n.at.place + by
	if to < 0 || to >= len(n.at.Parent.Children) {
		return n.move(nil)
	}
	return n.move(n.at.Parent.Children[to])
}

func (n *navigator) move(to *XML) bool {
	n.step(1)
	if to == nil {
		return false
	}
	n.at = to
	return true
}

func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if !ok || o.root != n.root {
		return false
	}
	n.at = o.at
	return true
}
