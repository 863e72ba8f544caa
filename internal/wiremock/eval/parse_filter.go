// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"strings"
)

// filter reads what comes behind `[?`.
func (p *pathParser) filter() (step, error) {
	if p.space(); p.peek() != '(' {
		return nil, errors.New("a filter has to stand in parentheses, like [?(@.a == 1)]")
	}
	t, err := p.single()
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
func (p *pathParser) either() (test, error) { return p.joined("||", p.both, yes) }

// both reads tests with && between them.
func (p *pathParser) both() (test, error) { return p.joined("&&", p.single, no) }

// joined reads tests with an operator between them; the first with the verdict
// decides.
func (p *pathParser) joined(operator string, part func() (test, error), decides verdict) (test, error) {
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
	return func(e *environment, item any) verdict {
		for _, t := range tests {
			if v := t(e, item); v == decides || v == broken {
				return v
			}
		}
		return decides.opposite()
	}, nil
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
		if p.space(); p.peek() == '@' || p.peek() == '$' {
			return p.comparison(true)
		}
		t, err := p.single()
		return func(e *environment, item any) verdict { return t(e, item).opposite() }, err
	case p.take("("):
		t, err := p.either()
		if err != nil {
			return nil, err
		}
		if p.space(); !p.take(")") {
			return nil, fmt.Errorf("expected an operator or a parenthesis at '%s'", p.text[p.at:])
		}
		return t, nil
	}
	return p.comparison(false)
}

// comparison reads a path, or two values with an operator between them. Before
// a path that is compared `!` counts for nothing with Jayway's implementation.
func (p *pathParser) comparison(negated bool) (test, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	holds, err := p.operator()
	switch {
	case err != nil:
		return nil, err
	case holds != nil:
		right, err := p.operand()
		return compare(left, right, holds), err
	case left.path == nil:
		return nil, fmt.Errorf("expected an operator at '%s'", p.text[p.at:])
	}
	return func(e *environment, item any) verdict { return verdictOf(left.path.exists(item, e) != negated) }, nil
}

// operator reads an operator; nil where there is none.
func (p *pathParser) operator() (operator, error) {
	p.space()
	begin := p.at
	for strings.IndexByte("<>=~!", p.peek()) >= 0 && p.at < len(p.text) {
		p.at++
	}
	if p.at == begin { // a word
		if end := strings.IndexByte(p.text[begin:], ' '); end >= 0 {
			if holds := operators[strings.ToUpper(p.text[begin:begin+end])]; holds != nil {
				p.at += end
				return holds, nil
			}
		}
		return nil, nil
	}
	holds := operators[p.text[begin:p.at]]
	if holds == nil {
		return nil, fmt.Errorf("there is no operator %s", p.text[begin:p.at])
	}
	return holds, nil
}

// operand reads a path or a plain value.
func (p *pathParser) operand() (operand, error) {
	p.space()
	c := p.peek()
	if c == '@' || c == '$' {
		text, err := p.inner()
		if err != nil {
			return operand{}, err
		}
		path, err := compilePath(text, p.depth)
		return operand{path: path, fromRoot: c == '$'}, err
	}
	n, err := p.literal()
	return operand{plain: n}, err
}

// inner returns the text of a path within a filter: up to a blank, an operator
// or a parenthesis that closes none of its own.
func (p *pathParser) inner() (string, error) {
	begin := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '[':
			end := p.closing(p.at, ']')
			if end < 0 {
				return "", errors.New("a bracket is not closed")
			}
			p.at = end
		case ')':
			before := strings.TrimRight(p.text[begin:p.at], " ")
			if !strings.HasSuffix(before, "(") || !strings.Contains(before, ".") {
				return p.text[begin:p.at], nil
			}
		case ' ', '<', '>', '=', '~', '!':
			return p.text[begin:p.at], nil
		}
	}
	return p.text[begin:], nil
}
