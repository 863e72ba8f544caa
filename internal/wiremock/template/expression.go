// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strconv"
	"strings"
)

// evaluator is a compiled expression: it returns nil, a string, a bool, an
// int64, a float64, a json.Number, a list of texts, a []any, an *eval.Object, asJSON,
// a segments, a date, a nodes, an *eval.XML, a content or an attributes.
type evaluator func(s *scope) any

func constant(value any) evaluator { return func(*scope) any { return value } }

// operand is an argument of a helper.
type operand struct {
	text    string // as it was written
	literal any    // the value, if it is known at once
	isKnown bool
	value   evaluator
}

// call is a helper with its arguments.
type call struct {
	name    string
	args    []operand
	named   map[string]operand
	content *operand // of a block; nil: it is none
	names   *names
}

// NoHelperError is the error of a template that calls a helper which is not
// known, as those of extensions are.
type NoHelperError struct{ kind, name string }

func (e *NoHelperError) Error() string { return "there is no " + e.kind + " '" + e.name + "'" }

// expression compiles what stands in a tag or in parentheses.
func (p *parser) expression(content string) (evaluator, error) {
	if err := p.nested(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	words, err := split(content)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("there is no expression")
	}
	if h, ok := helpers[words[0]]; ok && !p.isLocal(words[0]) {
		c, err := p.call(words)
		if err != nil {
			return nil, err
		}
		return c.compile(h)
	}
	if len(words) > 1 {
		return nil, &NoHelperError{"helper", words[0]}
	}
	return p.path(words[0])
}

// call reads the arguments of a helper.
func (p *parser) call(words []string) (*call, error) {
	c := &call{name: words[0], named: make(map[string]operand), names: p.names}
	for _, word := range words[1:] {
		name, rest, isNamed := cutName(word)
		o, err := p.operand(rest)
		switch {
		case err != nil:
			return nil, err
		case isNamed:
			c.named[name] = o
		case len(c.named) > 0:
			return nil, fmt.Errorf("'%s' stands after named arguments", word)
		default:
			c.args = append(c.args, o)
		}
	}
	return c, nil
}

func (p *parser) operand(word string) (operand, error) {
	if value, ok := literal(word); ok {
		return operand{text: word, literal: value, isKnown: true, value: constant(value)}, nil
	}
	if inner, ok := strings.CutPrefix(word, "("); ok {
		value, err := p.expression(strings.TrimSuffix(inner, ")"))
		return operand{text: word, value: value}, err
	}
	value, err := p.path(word)
	o := operand{text: word, value: value}
	if keys := pathKeys(word); len(keys) > 0 && keys[0] == "parameters" && !p.isLocal(keys[0]) {
		o.literal, o.isKnown = lookup(p.parameters, keys[1:]), true
	}
	return o, err
}

// literal reads a text in quotes, a number or a word like true.
func literal(word string) (any, bool) {
	switch {
	case word == "true" || word == "false":
		return word == "true", true
	case word == "null" || word == "undefined":
		return nil, true
	case word[0] == '\'' || word[0] == '"':
		text := strings.ReplaceAll(word[1:], `\`+word[:1], word[:1]) // at the end too, as WireMock has it
		return text[:len(text)-1], true
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n, true
	}
	if strings.ContainsAny(word[:1], "-0123456789") {
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			return f, true
		}
	}
	return nil, false
}

// cutName takes the name off an argument `name=value`.
func cutName(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	if !ok || value == "" || strings.ContainsAny(name, `'"([`) {
		return "", word, false
	}
	return name, value, true
}

// split cuts an expression into words; what is quoted, in parentheses or in
// brackets stays together.
func split(content string) ([]string, error) {
	var words []string
	start, depth := -1, 0
	for i := 0; i < len(content); i++ {
		switch c := content[i]; c {
		case ' ', '\t', '\r', '\n':
			if depth == 0 && start >= 0 {
				words = append(words, content[start:i])
				start = -1
			}
			continue
		case '\'', '"':
			n := quoted(content[i:])
			if n < 0 {
				return nil, fmt.Errorf("a quote is not closed")
			}
			if start < 0 {
				start = i
			}
			i += n - 1
			continue
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		if start < 0 {
			start = i
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("parentheses or brackets are not balanced")
	}
	if start >= 0 {
		words = append(words, content[start:])
	}
	return words, nil
}
