// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

var jsonHelpers = map[string]helper{
	"jsonPath":     {least: 2, most: 2, named: []string{"default"}, compile: compileJSONPath},
	"parseJson":    {least: 0, most: 2, block: true, compile: compileParseJSON},
	"toJson":       {least: 1, most: 1, compile: compileToJSON},
	"formatJson":   {least: 0, most: 1, named: []string{"format"}, block: true, compile: compileFormatJSON},
	"jsonMerge":    {least: 1, most: 2, named: []string{"removeNulls"}, block: true, compile: compileJSONMerge},
	"jsonArrayAdd": {least: 1, most: 2, named: []string{"jsonPath", "flatten", "maxItems"}, block: true, compile: compileJSONArrayAdd},
	"jsonRemove":   {least: 2, most: 2, compile: compileJSONRemove},
}

// perJSON is what it costs to parse a byte of a text.
const perJSON = 2

func (s *scope) parse(text string) (any, bool) {
	if !s.budget.Spend(perJSON * (1 + len(text))) {
		return nil, false
	}
	return eval.ParseJSON(text)
}

// second returns the text of the argument behind the first, or of the block.
func (c *call) second(s *scope) (text string, ok bool) {
	switch {
	case c.content != nil:
		return toText(c.content.value(s), s.budget), true
	case len(c.args) > 1:
		value := c.args[1].value(s)
		return toText(value, s.budget), value != nil
	}
	return "", false
}

// compileParseJSON compiles the value of a text, which may become a variable.
func compileParseJSON(c *call) (evaluator, error) {
	var source operand
	var name func(*scope) string
	rest := c.args
	if c.content != nil {
		source = *c.content
	} else {
		if len(rest) == 0 {
			return nil, errors.New("parseJson takes a text")
		}
		source, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		var err error
		if name, err = c.variable(rest[0]); err != nil {
			return nil, err
		}
	}
	return func(s *scope) any {
		var value any = new(eval.Object)
		if text := strings.TrimSpace(toText(source.value(s), s.budget)); text != "" {
			if !s.budget.Spend(perJSON * (1 + len(text))) {
				return nil
			}
			parsed, ok := eval.ParseExact(text)
			if !ok {
				return problem("'%s' is not valid JSON", shortened(text))
			}
			value = parsed
		}
		if name == nil {
			return value
		}
		s.assign(name(s), value)
		return nil
	}, nil
}

// shortened keeps a long text out of an error.
func shortened(text string) string {
	const longest = 100
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

func compileToJSON(c *call) (evaluator, error) {
	return func(s *scope) any {
		value := plain(c.args[0].value(s))
		if value == nil {
			return nil
		}
		return string(eval.AppendIndented(nil, serial(value, s.budget), s.budget))
	}, nil
}

// serial returns a value with nothing in it but what JSON has.
func serial(value any, b *eval.Budget) any {
	if !b.Spend(1) {
		return nil
	}
	switch v := plain(value).(type) {
	case []string:
		if len(v) == 1 {
			return v[0]
		}
		return anyOf(v)
	case segments, date, nodes, content, *eval.XML:
		return toText(v, b)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = serial(v[i], b)
		}
		return list
	case *eval.Object:
		object := new(eval.Object)
		for _, m := range v.Members {
			object.Set(m.Name, serial(m.Value, b))
		}
		return object
	default:
		return v
	}
}

// layout compiles the option format: pretty or compact.
func (c *call) layout(s *scope) (isPretty, ok bool) {
	switch text := toText(c.option("format", "pretty")(s), s.budget); text {
	case "pretty", "compact":
		return text == "pretty", true
	}
	return false, false
}

// source returns the text that a helper formats.
func (c *call) source(s *scope) string {
	o := c.content
	if o == nil {
		if len(c.args) == 0 {
			return ""
		}
		o = &c.args[0]
	}
	text, _ := first(o.value(s), s.budget).(string)
	return strings.TrimSpace(text)
}

func compileFormatJSON(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.source(s)
		isPretty, ok := c.layout(s)
		switch {
		case text == "":
			return problem("formatJson should take a block of JSON to format or a single parameter of type String")
		case !ok:
			return problem("formatJson: format [%s] should be one of [pretty, compact]", toText(c.named["format"].value(s), s.budget))
		}
		value, ok := s.parse(text)
		if !ok {
			return problem("There was an error parsing the json. Please make sure the json is valid")
		}
		if isPretty {
			return string(eval.AppendIndentedWhole(nil, value, s.budget))
		}
		return string(eval.AppendJSON(nil, value, s.budget))
	}, nil
}
