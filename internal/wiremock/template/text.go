// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

var textHelpers = map[string]helper{
	"upper":           {least: 1, most: 1, compile: onText(strings.ToUpper)},
	"lower":           {least: 1, most: 1, compile: onText(strings.ToLower)},
	"capitalize":      {least: 1, most: 1, compile: onText(capitalize)},
	"capitalizeFirst": {least: 1, most: 1, compile: onText(capitalizeFirst)},
	"trim":            {least: 1, most: 1, compile: onText(strings.TrimSpace)},
	"replace":         {least: 3, most: 3, compile: compileReplace},
	"substring":       {least: 2, most: 3, compile: compileSubstring},
	"join":            {least: 2, most: -1, compile: compileJoin},
	"defaultIfEmpty":  {least: 2, most: 2, compile: compileDefaultIfEmpty},
	"val":             {least: 1, most: 1, named: []string{"or", "default", "assign"}, compile: compileVal},
	"base64":          {least: 1, most: 1, named: []string{"decode", "padding"}, compile: compileBase64},
	"urlEncode":       {least: 1, most: 1, named: []string{"decode"}, compile: compileURLEncode},
	"contains":        {least: 2, most: 2, compile: compileContains},
	"matches":         {least: 2, most: 2, compile: compileMatches},
	"regexExtract":    {least: 2, most: 3, named: []string{"default"}, compile: compileRegexExtract},
}

func onText(change func(string) string) func(c *call) (evaluator, error) {
	return func(c *call) (evaluator, error) {
		return func(s *scope) any {
			text := c.text(s, 0)
			if !s.budget.Spend(len(text)) {
				return nil
			}
			return change(text)
		}, nil
	}
}

// text returns an argument as text.
func (c *call) text(s *scope, i int) string { return toText(c.args[i].value(s), s.budget) }

func capitalizeFirst(text string) string {
	for i, r := range text {
		return text[:i] + string(unicode.ToUpper(r)) + text[i+len(string(r)):]
	}
	return text
}

func capitalize(text string) string {
	var out strings.Builder
	inWord := false
	for _, r := range text {
		if !inWord {
			r = unicode.ToUpper(r)
		}
		inWord = !unicode.IsSpace(r)
		out.WriteRune(r)
	}
	return out.String()
}

func compileReplace(c *call) (evaluator, error) {
	return func(s *scope) any {
		text, from, to := c.text(s, 0), c.text(s, 1), c.text(s, 2)
		if !s.budget.Spend(len(text)) || !s.budget.Spend(strings.Count(text, from)*len(to)) {
			return nil
		}
		return strings.ReplaceAll(text, from, to)
	}, nil
}

func compileSubstring(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.text(s, 0)
		if !s.budget.Spend(len(text)) {
			return nil
		}
		runes := []rune(text)
		from, ok := number(c.args[1].value(s))
		to := float64(len(runes))
		if ok && len(c.args) == 3 {
			to, ok = number(c.args[2].value(s))
		}
		if !ok || from < 0 || to > float64(len(runes)) || from > to {
			return problem("substring is out of the text's bounds")
		}
		return string(runes[int(from):int(to)])
	}, nil
}

// compileJoin joins the elements of a list, or all arguments but the last,
// with the last one between them.
func compileJoin(c *call) (evaluator, error) {
	last := len(c.args) - 1
	return func(s *scope) any {
		between := c.text(s, last)
		var joined []byte
		n := 0
		add := func(value any) {
			if n++; n > 1 {
				joined = appendBounded(joined, between, s.budget)
			}
			joined = appendText(joined, value, s.budget)
		}
		for i := range last {
			value := c.args[i].value(s)
			if list, ok := elementsOf(value); ok {
				addAll(list, add)
			} else {
				add(value)
			}
		}
		return string(joined)
	}, nil
}

func addAll[T any](values []T, add func(any)) {
	for _, value := range values {
		add(value)
	}
}

func compileDefaultIfEmpty(c *call) (evaluator, error) {
	return func(s *scope) any {
		if value := c.args[0].value(s); truthy(value) {
			return value
		}
		return c.args[1].value(s)
	}, nil
}

// compileVal compiles a value, or something else if it is not there at all, which
// may become a variable.
func compileVal(c *call) (evaluator, error) {
	otherwise := c.option("or", nil)
	if _, given := c.named["or"]; !given {
		otherwise = c.option("default", nil)
	}
	value := func(s *scope) any {
		if value := c.args[0].value(s); value != nil {
			return value
		}
		return otherwise(s)
	}
	to, given := c.named["assign"]
	if !given {
		return value, nil
	}
	name, err := c.variable(to)
	return func(s *scope) any {
		s.assign(name(s), value(s))
		return nil
	}, err
}

func compileBase64(c *call) (evaluator, error) {
	decode, padding := c.option("decode", false), c.option("padding", true)
	return func(s *scope) any {
		text := c.text(s, 0)
		switch {
		case !s.budget.Spend(2 * len(text)):
			return nil
		case truthy(decode(s)):
			decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
			if err != nil {
				return problem("%s is not base64", text)
			}
			return string(decoded)
		case truthy(padding(s)):
			return base64.StdEncoding.EncodeToString([]byte(text))
		}
		return base64.RawStdEncoding.EncodeToString([]byte(text))
	}, nil
}

func compileURLEncode(c *call) (evaluator, error) {
	decode := c.option("decode", false)
	return func(s *scope) any {
		text := c.text(s, 0)
		if !s.budget.Spend(3 * len(text)) {
			return nil
		}
		if !truthy(decode(s)) {
			return url.QueryEscape(text)
		}
		decoded, err := url.QueryUnescape(text)
		if err != nil {
			return problem("%v", err)
		}
		return decoded
	}, nil
}

func compileContains(c *call) (evaluator, error) {
	return func(s *scope) any {
		value, wanted := c.args[0].value(s), c.text(s, 1)
		if list, ok := plain(value).([]any); ok {
			return slices.ContainsFunc(list, func(element any) bool {
				return s.budget.Spend(1) && toText(element, s.budget) == wanted
			})
		}
		text := toText(value, s.budget)
		return s.budget.Read(len(text)) && strings.Contains(text, wanted)
	}, nil
}

func compileMatches(c *call) (evaluator, error) {
	pattern, err := compiled(c, "pattern", c.args[1], eval.CompileWhole)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		re, err := pattern(s)
		if err != nil {
			return problem("%v", err)
		}
		return re.Match(c.text(s, 0), s.budget)
	}, nil
}

// compileRegexExtract compiles the first match of a pattern or, with the name of
// a variable, the groups of every match as that.
func compileRegexExtract(c *call) (evaluator, error) {
	pattern, err := compiled(c, "pattern", c.args[1], eval.CompileRegexp)
	if err != nil {
		return nil, err
	}
	var name func(*scope) string
	if len(c.args) == 3 {
		if name, err = c.variable(c.args[2]); err != nil {
			return nil, err
		}
	}
	otherwise := c.option("default", nil)
	nothing := func(s *scope) any {
		if value := otherwise(s); value != nil {
			return value
		}
		return problem("Nothing matched %s", c.text(s, 1))
	}
	return func(s *scope) any {
		re, err := pattern(s)
		if err != nil {
			return problem("Invalid regex string %s", c.text(s, 1))
		}
		if name == nil {
			if found, ok := re.Find(c.text(s, 0), s.budget); ok {
				return found
			}
			return nothing(s)
		}
		groups := re.FindGroups(c.text(s, 0), s.budget)
		if len(groups) == 0 {
			return nothing(s)
		}
		s.assign(name(s), groups)
		return nil
	}, nil
}
