// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"strings"
	"unicode"
)

var textHelpers = map[string]helper{
	"upper":           {1, 1, nil, onText(strings.ToUpper)},
	"lower":           {1, 1, nil, onText(strings.ToLower)},
	"capitalize":      {1, 1, nil, onText(capitalize)},
	"capitalizeFirst": {1, 1, nil, onText(capitalizeFirst)},
	"trim":            {1, 1, nil, onText(strings.TrimSpace)},
	"replace":         {3, 3, nil, compileReplace},
	"substring":       {2, 3, nil, compileSubstring},
	"join":            {2, -1, nil, compileJoin},
	"defaultIfEmpty":  {2, 2, nil, compileDefaultIfEmpty},
	"val":             {1, 1, []string{"or", "default"}, compileVal},
	"base64":          {1, 1, []string{"decode", "padding"}, compileBase64},
	"urlEncode":       {1, 1, []string{"decode"}, compileURLEncode},
	"contains":        {2, 2, nil, compileContains},
	"matches":         {2, 2, nil, compileMatches},
	"regexExtract":    {2, 2, []string{"default"}, compileRegexExtract},
}

func onText(change func(string) string) func(c *call) (evaluator, error) {
	return func(c *call) (evaluator, error) {
		return func(s *scope) any { return change(c.text(s, 0)) }, nil
	}
}

// text gives an argument as text.
func (c *call) text(s *scope, i int) string { return toText(c.args[i].value(s)) }

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
		return strings.ReplaceAll(c.text(s, 0), c.text(s, 1), c.text(s, 2))
	}, nil
}

func compileSubstring(c *call) (evaluator, error) {
	return func(s *scope) any {
		runes := []rune(c.text(s, 0))
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
		var parts []string
		for i := range last {
			switch value := c.args[i].value(s).(type) {
			case []string:
				parts = append(parts, value...)
			case []any:
				for _, element := range value {
					parts = append(parts, toText(element))
				}
			default:
				parts = append(parts, toText(value))
			}
		}
		return strings.Join(parts, c.text(s, last))
	}, nil
}

func compileDefaultIfEmpty(c *call) (evaluator, error) {
	return func(s *scope) any {
		if value := c.args[0].value(s); truthy(value) {
			return value
		}
		return c.args[1].value(s)
	}, nil
}

// compileVal gives a value, or something else if it is not there at all.
func compileVal(c *call) (evaluator, error) {
	otherwise := c.option("or", nil)
	if _, given := c.named["or"]; !given {
		otherwise = c.option("default", nil)
	}
	return func(s *scope) any {
		if value := c.args[0].value(s); value != nil {
			return value
		}
		return otherwise(s)
	}, nil
}
