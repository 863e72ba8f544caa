// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// filter reads what comes behind `[?`.
func (p *pathParser) filter() (step, error) {
	p.space()
	t, err := p.either()
	return filter{t}, err
}

// nested counts a level of filters or parentheses.
func (p *pathParser) nested() error {
	if p.depth++; p.depth > deepestFilter {
		return fmt.Errorf("filters are nested deeper than %d levels", deepestFilter)
	}
	return nil
}

// either reads tests with || between them.
func (p *pathParser) either() (test, error) {
	return p.joined("||", p.both, func(tests []test) test {
		return func(w *walker, value any) bool {
			return slices.ContainsFunc(tests, func(t test) bool { return t(w, value) })
		}
	})
}

// both reads tests with && between them.
func (p *pathParser) both() (test, error) {
	return p.joined("&&", p.single, func(tests []test) test {
		return func(w *walker, value any) bool {
			return !slices.ContainsFunc(tests, func(t test) bool { return !t(w, value) })
		}
	})
}

func (p *pathParser) joined(operator string, part func() (test, error), join func([]test) test) (test, error) {
	var tests []test
	for {
		t, err := part()
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
		if p.space(); !p.take(operator) {
			break
		}
	}
	if len(tests) == 1 {
		return tests[0], nil
	}
	return join(tests), nil
}

// single reads a test in parentheses, one with ! before it, a comparison or a
// path.
func (p *pathParser) single() (test, error) {
	if err := p.nested(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	p.space()
	switch {
	case p.take("!"):
		t, err := p.single()
		return func(w *walker, value any) bool { return !t(w, value) }, err
	case p.take("("):
		t, err := p.either()
		if err == nil && !p.take(")") {
			err = errors.New("a parenthesis is not closed")
		}
		return t, err
	}
	return p.comparison()
}

func (p *pathParser) comparison() (test, error) {
	left, isPath, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.space()
	switch operator := p.operator(); operator {
	case "":
		if !isPath || p.at < len(p.text) && strings.IndexByte(")]&|", p.peek()) < 0 {
			return nil, fmt.Errorf("expected a comparison at '%s'", p.text[p.at:])
		}
		return exists(left), nil
	case "=~":
		p.space()
		re, err := p.regexp()
		return matching(left, re), err
	case "empty", "exists":
		return p.property(left, operator)
	default:
		p.space()
		right, _, err := p.operand()
		return comparison(left, right, comparisons[operator]), err
	}
}

// operator reads an operator; empty if there is none.
func (p *pathParser) operator() string {
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">", "=~", "in ", "empty ", "exists "} {
		if p.take(operator) {
			return strings.TrimSpace(operator)
		}
	}
	return ""
}

// property reads the truth value behind `empty` or `exists`.
func (p *pathParser) property(o operand, operator string) (test, error) {
	p.space()
	want := p.take("true")
	if !want && !p.take("false") {
		return nil, fmt.Errorf("%s needs true or false", operator)
	}
	if operator == "empty" {
		return empty(o, want), nil
	}
	there := exists(o)
	return func(w *walker, value any) bool { return there(w, value) == want }, nil
}

// operand reads a path or a plain value.
func (p *pathParser) operand() (o operand, isPath bool, err error) {
	switch c := p.peek(); c {
	case '@', '$':
		p.at++
		path, err := p.steps(nil)
		if err != nil {
			return nil, false, err
		}
		return valuesOf(path, c == '$'), true, nil
	case '[':
		list, err := p.list()
		return literal(list), false, err
	}
	value, err := p.plain()
	return literal(value), false, err
}

// list reads `['a', 1]`.
func (p *pathParser) list() ([]any, error) {
	p.at++
	list := []any{}
	for {
		if p.space(); p.take("]") {
			return list, nil
		}
		value, err := p.plain()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if p.space(); !p.take(",") && p.peek() != ']' {
			return nil, errors.New("a list is not closed")
		}
	}
}

// plain reads a text in quotes, a number, true, false or null.
func (p *pathParser) plain() (any, error) {
	if c := p.peek(); c == '\'' || c == '"' {
		return p.quoted()
	}
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", p.text[p.at]) >= 0 {
		p.at++
	}
	switch word := p.text[begin:p.at]; word {
	case "true", "false":
		return word == "true", nil
	case "null":
		return nil, nil
	default:
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(word, 64); err == nil && word != "nan" && !strings.Contains(word, "inf") {
			return f, nil
		}
		return nil, fmt.Errorf("expected a value at '%s'", p.text[begin:])
	}
}

// regexp reads `/pattern/flags`.
func (p *pathParser) regexp() (*Regexp, error) {
	if !p.take("/") {
		return nil, errors.New("=~ needs a pattern like /a.*/")
	}
	begin := p.at
	for p.at < len(p.text) && p.text[p.at] != '/' {
		if p.text[p.at] == '\\' {
			p.at++
		}
		p.at++
	}
	if p.at >= len(p.text) {
		return nil, errors.New("a pattern is not closed")
	}
	source := strings.ReplaceAll(p.text[begin:p.at], `\/`, "/")
	p.at++
	flags := p.at
	for p.at < len(p.text) && p.text[p.at] >= 'a' && p.text[p.at] <= 'z' {
		p.at++
	}
	if given := p.text[flags:p.at]; given != "" {
		if strings.Trim(given, "ims") != "" {
			return nil, fmt.Errorf("the flags '%s' of /%s/ are not supported", given, source)
		}
		source = "(?" + given + ":" + source + ")"
	}
	return CompileWhole(source)
}
