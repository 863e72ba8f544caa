// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

var listHelpers = map[string]helper{
	"array":       {least: 0, most: -1, compile: compileArray},
	"arrayAdd":    {least: 2, most: 2, named: []string{"position"}, compile: compileArrayAdd},
	"arrayRemove": {least: 1, most: 1, named: []string{"position"}, compile: compileArrayRemove},
	"arrayJoin":   {least: 2, most: -1, named: []string{"prefix", "suffix"}, compile: compileArrayJoin},
	"range":       {least: 2, most: 2, compile: compileRange},
	"formData":    {least: 1, most: 2, named: []string{"urlDecode", "encoding"}, compile: compileFormData},
	"assign":      {least: 1, most: 2, block: true, compile: compileAssign},
}

// compileAssign compiles a variable that is the text of a block.
func compileAssign(c *call) (evaluator, error) {
	name, err := c.variable(c.args[0])
	return func(s *scope) any {
		text := ""
		if c.content != nil {
			text = strings.TrimSpace(toText(c.content.value(s), s.budget))
		}
		s.assign(name(s), text)
		return nil
	}, err
}

func compileArray(c *call) (evaluator, error) {
	return func(s *scope) any {
		list := make([]any, len(c.args))
		for i := range c.args {
			list[i] = c.args[i].value(s)
		}
		return list
	}, nil
}

// position returns where an element comes; less than 0: at the end.
func (c *call) position(s *scope) (at int, ok bool) {
	switch text := toText(c.option("position", "end")(s), s.budget); {
	case strings.EqualFold(text, "start"):
		return 0, true
	case strings.EqualFold(text, "end"):
		return -1, true
	default:
		at, err := strconv.Atoi(text)
		return at, err == nil && at >= 0
	}
}

const badPosition = "position must be greater than or equal to 0 and less than or equal to the size of the list"

// copied returns a list of its own; nothing where the budget ends.
func copied(s *scope, value any) []any {
	list, _ := elementsOf(value)
	if !s.budget.Spend(4 * (1 + len(list))) {
		return nil
	}
	return slices.Clone(list)
}

func compileArrayAdd(c *call) (evaluator, error) {
	return func(s *scope) any {
		list := copied(s, c.args[0].value(s))
		at, ok := c.position(s)
		if !ok || at > len(list) {
			return problem(badPosition)
		}
		if at < 0 {
			at = len(list)
		}
		return slices.Insert(list, at, c.args[1].value(s))
	}, nil
}

func compileArrayRemove(c *call) (evaluator, error) {
	return func(s *scope) any {
		list := copied(s, c.args[0].value(s))
		at, ok := c.position(s)
		if at < 0 {
			at = len(list) - 1
		}
		if !ok || at < 0 || at >= len(list) {
			return problem(badPosition)
		}
		return slices.Delete(list, at, at+1)
	}, nil
}

// joined returns what is to be joined: the elements of a list, or all arguments.
func (c *call) joined(s *scope) []any {
	if list, ok := elementsOf(c.args[1].value(s)); ok {
		return list
	}
	list := make([]any, 0, len(c.args))
	for _, arg := range c.args[1:] {
		list = append(list, arg.value(s))
	}
	return list
}

func compileArrayJoin(c *call) (evaluator, error) {
	return c.joining(func(buffer []byte, s *scope, value any, _, _ int) []byte { return appendText(buffer, value, s.budget) }), nil
}

// joining returns what is between the elements of a list, each written by a
// function.
func (c *call) joining(write func(buffer []byte, s *scope, value any, i, length int) []byte) evaluator {
	prefix, suffix := c.option("prefix", ""), c.option("suffix", "")
	return func(s *scope) any {
		between, list := c.text(s, 0), c.joined(s)
		if len(list) == 0 {
			return ""
		}
		buffer := appendText(nil, prefix(s), s.budget)
		for i, value := range list {
			if i > 0 {
				buffer = appendBounded(buffer, between, s.budget)
			}
			if !s.budget.Spend(perElement) {
				return nil
			}
			buffer = write(buffer, s, value, i, len(list))
		}
		return string(appendText(buffer, suffix(s), s.budget))
	}
}

// joinBlock compiles arrayJoin whose block is rendered for each element.
func (p *parser) joinBlock(words []string) (node, error) {
	c, err := p.call(words)
	if err != nil {
		return nil, err
	}
	b, err := p.inside(nil, words[0])
	if err != nil {
		return nil, err
	}
	h := helpers["arrayJoin"]
	h.compile = func(c *call) (evaluator, error) {
		return c.joining(func(buffer []byte, s *scope, value any, i, length int) []byte {
			inner := s.within(value, "")
			inner.key, inner.index, inner.first, inner.last = int64(i), i, i == 0, i == length-1
			return render(buffer, b.body, inner)
		}), nil
	}
	value, err := c.compile(h)
	return output{value}, err
}

// mostInRange bounds a range of numbers.
const mostInRange = 100_000

func compileRange(c *call) (evaluator, error) {
	return func(s *scope) any {
		from, ok := integer(c.args[0].value(s))
		to, both := integer(c.args[1].value(s))
		switch {
		case !ok || !both:
			return problem("The range helper requires both lower and upper bounds as integer parameters")
		case to < from-1 || to-from >= mostInRange:
			return problem("a range has from 0 to %d numbers", mostInRange)
		}
		if !s.budget.Spend(4 * int(to-from+1)) {
			return nil
		}
		list := make([]any, 0, to-from+1)
		for n := from; n <= to; n++ {
			list = append(list, n)
		}
		return list
	}, nil
}

// compileFormData compiles the values of a form by their names, which may become a
// variable.
func compileFormData(c *call) (evaluator, error) {
	decode := c.option("urlDecode", false)
	var name func(*scope) string
	if len(c.args) == 2 {
		var err error
		if name, err = c.variable(c.args[1]); err != nil {
			return nil, err
		}
	}
	return func(s *scope) any {
		text := c.text(s, 0)
		if !s.budget.Spend(len(text) + 8*(1+strings.Count(text, "&"))) {
			return nil
		}
		form := new(eval.Object)
		for pair := range strings.SplitSeq(text, "&") {
			key, value, ok := strings.Cut(pair, "=")
			if value = strings.TrimSpace(value); !ok || value == "" {
				continue
			}
			if truthy(decode(s)) {
				if plain, err := url.QueryUnescape(value); err == nil {
					value = plain
				}
			}
			known, _ := form.Get(key)
			values, _ := known.([]string)
			form.Set(key, append(values, value))
		}
		if name == nil {
			return form
		}
		s.assign(name(s), form)
		return nil
	}, nil
}

// compileLookup compiles what a value has of a name, which may have any
// characters.
func compileLookup(c *call) (evaluator, error) {
	of := strings.TrimPrefix(strings.TrimPrefix(c.args[0].text, "originalRequest."), "request.")
	isRequest := of != c.args[0].text
	list := requestLists[of]
	return func(s *scope) any {
		key := c.text(s, 1)
		switch {
		case isRequest && list != nil:
			if values := s.values(list, key); len(values) > 0 {
				return values
			}
			if name, index, ok := cutLast(key); ok {
				return inner(s.values(list, name), index)
			}
			return nil
		case isRequest && (of == "path" || of == "pathSegments"):
			return pathPart(key)(s)
		}
		value := plain(c.args[0].value(s))
		if found := inner(value, key); found != nil {
			return found
		}
		if name, rest, ok := cutLast(key); ok {
			return inner(plain(inner(value, name)), rest)
		}
		return nil
	}, nil
}

// cutLast cuts a name at its last dot.
func cutLast(key string) (name, rest string, ok bool) {
	at := strings.LastIndexByte(key, '.')
	if at <= 0 {
		return "", "", false
	}
	return key[:at], key[at+1:], true
}
