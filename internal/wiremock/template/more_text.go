// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// moreTextHelpers are those that Handlebars.java has for texts, and that are seen
// less.
var moreTextHelpers = map[string]helper{
	"center":       {least: 1, most: 1, named: []string{"size", "pad"}, compile: compilePad(func(room int) (int, int) { return room / 2, room - room/2 })},
	"ljust":        {least: 1, most: 1, named: []string{"size", "pad"}, compile: compilePad(func(room int) (int, int) { return 0, room })},
	"rjust":        {least: 1, most: 1, named: []string{"size", "pad"}, compile: compilePad(func(room int) (int, int) { return room, 0 })},
	"cut":          {least: 2, most: 2, compile: compileCut},
	"abbreviate":   {least: 2, most: 2, compile: compileAbbreviate},
	"slugify":      {least: 1, most: 1, compile: onText(slugify)},
	"stripTags":    {least: 1, most: 1, compile: onText(func(text string) string { return anyTag.ReplaceAllString(text, "") })},
	"wordWrap":     {least: 2, most: 2, compile: compileWordWrap},
	"yesno":        {least: 1, most: 1, named: []string{"yes", "no", "maybe"}, compile: compileYesNo},
	"stringFormat": {least: 1, most: -1, compile: compileStringFormat},
}

// mostPadding bounds what is added to a text, in bytes.
const mostPadding = 1 << 16

func compilePad(share func(room int) (left, right int)) func(c *call) (evaluator, error) {
	return func(c *call) (evaluator, error) {
		size, pad := c.option("size", int64(0)), c.option("pad", " ")
		return func(s *scope) any {
			text, with := c.text(s, 0), toText(pad(s), s.budget)
			n, _ := integer(size(s))
			room := int(min(n, mostPadding)) - utf8.RuneCountInString(text)
			if room <= 0 || with == "" || !s.budget.Spend(room+len(text)) {
				return text
			}
			left, right := share(room)
			return padding(with, left) + text + padding(with, right)
		}, nil
	}
}

// padding returns n characters of a text that is repeated. Bytes that are no UTF-8
// are one each, whatever they and the next repetition would make together.
func padding(with string, n int) string {
	runes := []rune(with)
	all := make([]rune, n)
	for i := range all {
		all[i] = runes[i%len(runes)]
	}
	return string(all)
}

func compileCut(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.text(s, 0)
		if !s.budget.Spend(len(text)) {
			return nil
		}
		return strings.ReplaceAll(text, c.text(s, 1), "")
	}, nil
}

func compileAbbreviate(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.text(s, 0)
		width, ok := integer(c.args[1].value(s))
		if !ok || width < 4 {
			return problem("abbreviate needs a width of 4 at least")
		}
		if !s.budget.Spend(len(text)) || int64(utf8.RuneCountInString(text)) <= width {
			return text
		}
		return string([]rune(text)[:width-3]) + "..."
	}, nil
}

var (
	anyTag     = regexp.MustCompile(`<[^>]*>`)
	noWord     = regexp.MustCompile(`[^\w\s-]`)
	manyBlanks = regexp.MustCompile(`[-\s]+`)
)

func slugify(text string) string {
	return manyBlanks.ReplaceAllString(strings.ToLower(strings.TrimSpace(noWord.ReplaceAllString(text, ""))), "-")
}

func compileWordWrap(c *call) (evaluator, error) {
	return func(s *scope) any {
		text := c.text(s, 0)
		width, ok := integer(c.args[1].value(s))
		if !ok || !s.budget.Spend(2*len(text)) {
			return text
		}
		var out strings.Builder
		line := int64(0)
		for i, word := range strings.Fields(text) {
			length := int64(utf8.RuneCountInString(word))
			switch {
			case i == 0:
			case line+1+length > width:
				out.WriteByte('\n')
				line = 0
			default:
				out.WriteByte(' ')
				line++
			}
			out.WriteString(word)
			line += length
		}
		return out.String()
	}, nil
}

func compileYesNo(c *call) (evaluator, error) {
	yes, no, maybe := c.option("yes", "yes"), c.option("no", "no"), c.option("maybe", "maybe")
	return func(s *scope) any {
		value := c.args[0].value(s)
		if value == nil {
			return maybe(s)
		}
		if truthy(value) {
			return yes(s)
		}
		return no(s)
	}, nil
}

// directive is a part of a format of Java's that Go writes alike.
var directive = regexp.MustCompile(`%(%|n|([-+0 #,]*)(\d{0,4})(\.\d{1,3})?([sdxXfeEcbo]))`)

// compileStringFormat compiles a text with values in the places of directives like
// %s and %05.2f.
func compileStringFormat(c *call) (evaluator, error) {
	return func(s *scope) any {
		format, next := c.text(s, 0), 1
		if !s.budget.Spend(len(format)) {
			return nil
		}
		fault := ""
		out := directive.ReplaceAllStringFunc(format, func(found string) string {
			switch found {
			case "%%":
				return "%"
			case "%n":
				return "\n"
			}
			if next >= len(c.args) || !s.budget.Spend(mostPadding/64) {
				fault = problem("stringFormat has no value for %s", found)
				return ""
			}
			value := first(c.args[next].value(s), s.budget)
			next++
			return written(found, value, s)
		})
		if fault != "" {
			return fault
		}
		return out
	}, nil
}

func written(found string, value any, s *scope) string {
	found = strings.ReplaceAll(found, ",", "")
	switch verb := found[len(found)-1]; verb {
	case 'd', 'x', 'X', 'o', 'c':
		n, _ := integer(value)
		return fmt.Sprintf(found, n)
	case 'f', 'e', 'E':
		f, _ := number(value)
		return fmt.Sprintf(found, f)
	case 'b':
		return fmt.Sprintf(found[:len(found)-1]+"t", truthy(value))
	}
	text := toText(value, s.budget)
	s.budget.Spend(len(text))
	return fmt.Sprintf(found, text)
}
