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

// compilePath reads a whole text as one path, which may leave out `$.`.
func compilePath(text string, depth int) (*Path, error) {
	p := pathParser{text: strings.TrimSpace(text), depth: depth}
	switch {
	case p.text == "":
		return nil, errors.New("it is empty")
	case p.text[0] != '$' && p.text[0] != '@':
		p.text = "$." + p.text
	}
	if strings.HasSuffix(p.text, ".") {
		return nil, errors.New("it ends on a dot")
	}
	p.at = 1
	if c := p.peek(); p.at < len(p.text) && c != '.' && c != '[' {
		return nil, fmt.Errorf("expected a dot or a bracket behind '%s'", p.text[:1])
	}
	steps, f, err := p.steps()
	if err != nil {
		return nil, err
	}
	return newPath(text, steps, f), nil
}

// steps reads what comes behind `$` or `@`, to the end.
func (p *pathParser) steps() (steps []step, f *function, err error) {
	for p.at < len(p.text) {
		if f != nil {
			return nil, nil, fmt.Errorf("nothing can come behind a function, got '%s'", p.text[p.at:])
		}
		if p.take("..") {
			steps = append(steps, descent{})
		} else {
			p.take(".")
		}
		var s step
		switch p.peek() {
		case '[':
			s, err = p.bracket()
		case '*':
			p.at++
			s = wildcard{}
		default:
			s, f, err = p.named()
		}
		if err != nil {
			return nil, nil, err
		}
		if s != nil {
			steps = append(steps, s)
		}
	}
	if f != nil && len(steps) > 0 {
		if _, ok := steps[len(steps)-1].(descent); ok {
			return nil, nil, errors.New("a function cannot stand behind '..'")
		}
		if steps[0] == step(descent{}) && !f.everywhere {
			return nil, nil, errors.New("this function cannot end a path that begins with '..'")
		}
	}
	return splitPicks(steps), f, nil
}

// splitPicks turns names of which not the last step is made into branches.
func splitPicks(steps []step) []step {
	for i, s := range steps[:max(len(steps)-1, 0)] {
		if names, ok := s.(pick); ok {
			var each union
			for _, name := range names {
				each = append(each, child(name))
			}
			steps[i] = each
		}
	}
	return steps
}

// named reads a name that is not in quotes, or a function.
func (p *pathParser) named() (step, *function, error) {
	end := strings.IndexAny(p.text[p.at:], ".[( ")
	if end < 0 {
		end = len(p.text) - p.at
	}
	name, rest := p.text[p.at:p.at+end], p.text[p.at+end:]
	switch {
	case strings.HasPrefix(rest, " "):
		return nil, nil, fmt.Errorf("a name with a blank has to stand in ['quotes'], got '%s'", p.text[p.at:])
	case end == 0:
		return nil, nil, fmt.Errorf("expected a name at '%s'", p.text[p.at:])
	case strings.HasPrefix(rest, "("):
		f, err := p.function(name)
		return nil, f, err
	}
	p.at += end
	return child(name), nil, nil
}

// function reads a function with its argument, if it has one.
func (p *pathParser) function(name string) (*function, error) {
	known, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("the function %s() is not supported", name)
	}
	p.at += len(name) + 1
	argument, rest, closed := strings.Cut(p.text[p.at:], ")")
	if !closed {
		return nil, fmt.Errorf("the argument of %s is not closed", name)
	}
	p.at = len(p.text) - len(rest)
	f := known
	argument = strings.TrimSpace(argument)
	if name == "index" {
		n, err := strconv.Atoi(argument)
		if err != nil {
			return nil, fmt.Errorf("index needs a number, got '%s'", argument)
		}
		f.index = n
	} else if argument != "" {
		return nil, fmt.Errorf("arguments of %s are not supported", name)
	}
	return &f, nil
}

// bracket reads `[...]`.
func (p *pathParser) bracket() (s step, err error) {
	p.at++
	p.space()
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		s, err = p.names(c)
	case c == '-' || c == ':' || c >= '0' && c <= '9':
		s, err = p.places()
	case p.take("*"):
		s = wildcard{}
	case p.take("?"):
		s, err = p.filter()
	default:
		return nil, fmt.Errorf("expected a name in quotes, an index, '*' or a filter at '%s'", p.text[p.at:])
	}
	if err != nil {
		return nil, err
	}
	if p.space(); !p.take("]") {
		return nil, errors.New("a bracket is not closed")
	}
	return s, nil
}

// names reads names in quotes, all of the same kind.
func (p *pathParser) names(quote byte) (step, error) {
	var names pick
	for {
		p.space()
		if p.peek() != quote {
			return nil, fmt.Errorf("expected a name in %c at '%s'", quote, p.text[p.at:])
		}
		name, err := p.quoted()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		if p.space(); !p.take(",") {
			break
		}
	}
	if len(names) == 1 {
		return child(names[0]), nil
	}
	return names, nil
}

// places reads indexes, or a slice.
func (p *pathParser) places() (step, error) {
	end := strings.IndexByte(p.text[p.at:], ']')
	if end < 0 {
		return nil, errors.New("a bracket is not closed")
	}
	inner := strings.TrimSpace(p.text[p.at : p.at+end])
	p.at += end
	if strings.Contains(inner, ":") {
		return newSlice(inner)
	}
	var list union
	for part := range strings.SplitSeq(inner, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("'%s' is not an index", part)
		}
		list = append(list, nth(n))
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

// newSlice reads `1:2`, of which either may be missing. What comes behind a
// second colon counts for nothing with Jayway's implementation.
func newSlice(text string) (step, error) {
	var s slice
	for i, part := range strings.Split(text, ":") {
		if part == "" || i > 1 {
			continue
		}
		n64, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("'%s' is not a slice", text)
		}
		n := int(n64)
		if i == 0 {
			s.start = &n
		} else {
			s.end = &n
		}
	}
	if s.start == nil && s.end == nil {
		return nil, fmt.Errorf("'%s' is a slice without bounds", text)
	}
	return s, nil
}
