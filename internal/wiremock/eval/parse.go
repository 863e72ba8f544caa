// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// pathParser reads a JSONPath of Jayway's. A parser of its own since libraries
// read other dialects, and evaluate filters without a bound.
type pathParser struct {
	text  string
	at    int
	depth int // of filters and parentheses around
}

// deepestFilter bounds how filters and parentheses may be nested.
const deepestFilter = 50

// whole reads all of the text as one path. It may leave out `$.`.
func (p *pathParser) whole() (*Path, error) {
	p.text = strings.TrimSpace(p.text)
	if p.text == "" {
		return nil, errors.New("it is empty")
	}
	var steps []step
	if p.text[0] != '$' && p.text[0] != '@' && p.text[0] != '[' && p.text[0] != '.' {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		steps = append(steps, child(name))
	} else if p.text[0] == '$' || p.text[0] == '@' {
		p.at++
	}
	path, err := p.steps(steps)
	if err == nil && p.at < len(p.text) {
		err = fmt.Errorf("'%s' is not understood", p.text[p.at:])
	}
	return path, err
}

// steps reads what comes behind `$` or `@`, up to what cannot belong to a path.
func (p *pathParser) steps(steps []step) (*Path, error) {
	begin := p.at
	for p.at < len(p.text) {
		switch {
		case p.take(".."):
			steps = append(steps, descent{})
			if p.peek() == '[' {
				continue
			}
		case p.take("."):
			if p.take("length()") || p.take("size()") {
				return newPath(p.text[begin:p.at], steps, true), nil
			}
			if p.peek() == '[' { // `$.['a']`
				continue
			}
		case p.peek() == '[':
			s, err := p.bracket()
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
			continue
		default:
			return newPath(p.text[begin:p.at], steps, false), nil
		}
		s, err := p.dotted()
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return newPath(p.text, steps, false), nil
}

// dotted reads a name or a star behind a dot.
func (p *pathParser) dotted() (step, error) {
	if p.take("*") {
		return wildcard{}, nil
	}
	name, err := p.name()
	if err == nil && p.peek() == '(' {
		err = errors.New("length() and size() are the only functions that are supported")
	}
	return child(name), err
}

// name reads a name that is not in quotes.
func (p *pathParser) name() (string, error) {
	end := strings.IndexAny(p.text[p.at:], ".[]()=!<>&|~,'\" \t\r\n*")
	if end < 0 {
		end = len(p.text) - p.at
	}
	if end == 0 {
		return "", fmt.Errorf("expected a name at '%s'", p.text[p.at:])
	}
	p.at += end
	return p.text[p.at-end : p.at], nil
}

// bracket reads `[...]`.
func (p *pathParser) bracket() (s step, err error) {
	p.at++
	p.space()
	switch c := p.peek(); {
	case p.take("*"):
		s = wildcard{}
	case p.take("?"):
		s, err = p.filter()
	case c == '(':
		return nil, errors.New("a script in brackets is not supported")
	default:
		s, err = p.places()
	}
	if err != nil {
		return nil, err
	}
	if p.space(); !p.take("]") {
		return nil, errors.New("a bracket is not closed")
	}
	return s, nil
}

// places reads indexes, a slice or names in quotes.
func (p *pathParser) places() (step, error) {
	var list union
	for {
		p.space()
		switch p.peek() {
		case '\'', '"':
			name, err := p.quoted()
			if err != nil {
				return nil, err
			}
			list = append(list, child(name))
		default:
			n, given, err := p.integer()
			if err != nil {
				return nil, err
			}
			if p.space(); len(list) == 0 && p.take(":") {
				return p.slice(n, given)
			}
			if !given {
				return nil, fmt.Errorf("expected a name, an index or a filter at '%s'", p.text[p.at:])
			}
			list = append(list, nth(n))
		}
		if p.space(); !p.take(",") {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

// slice reads what comes behind the first colon of a slice.
func (p *pathParser) slice(start int, given bool) (step, error) {
	var s slice
	if given {
		s.start = &start
	}
	for i, bound := range []**int{&s.end, &s.step} {
		p.space()
		n, given, err := p.integer()
		if err != nil {
			return nil, err
		}
		if given {
			*bound = &n
		}
		if p.space(); i == 0 && !p.take(":") {
			break
		}
	}
	return s, nil
}

func (p *pathParser) integer() (n int, given bool, err error) {
	end := p.at
	for end < len(p.text) && (p.text[end] >= '0' && p.text[end] <= '9' || end == p.at && p.text[end] == '-') {
		end++
	}
	if end == p.at {
		return 0, false, nil
	}
	n, err = strconv.Atoi(p.text[p.at:end])
	if err != nil {
		err = fmt.Errorf("'%s' is not an index", p.text[p.at:end])
	}
	p.at = end
	return n, true, err
}

// quoted reads a text in single or double quotes; a backslash takes what comes
// behind it as it is.
func (p *pathParser) quoted() (string, error) {
	var out strings.Builder
	quote := p.text[p.at]
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\' && i+1 < len(p.text):
			i++
			out.WriteByte(p.text[i])
		case c == quote:
			p.at = i + 1
			return out.String(), nil
		default:
			out.WriteByte(c)
		}
	}
	return "", errors.New("a quote is not closed")
}

func (p *pathParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *pathParser) take(token string) bool {
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *pathParser) space() {
	for strings.IndexByte(" \t\r\n", p.peek()) >= 0 && p.at < len(p.text) {
		p.at++
	}
}
