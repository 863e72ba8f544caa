// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// literal reads a text in quotes, a number, true, false, null, a list, an object
// or a pattern.
func (p *pathParser) literal() (*node, error) {
	switch p.peek() {
	case '\'', '"':
		text, err := p.quoted()
		return &node{kind: isText, text: text}, err
	case 't', 'f', 'n':
		for _, word := range []struct {
			text string
			node node
		}{{"true", node{kind: isBool, value: true}}, {"false", node{kind: isBool, value: false}}, {"null", node{kind: isNull}}} {
			if p.take(word.text) {
				return &word.node, nil
			}
		}
	case '[', '{':
		return p.json()
	case '/':
		re, err := p.regexp()
		return &node{kind: isPattern, re: re}, err
	}
	return p.number()
}

func (p *pathParser) number() (*node, error) {
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte("0123456789-.eE", p.text[p.at]) >= 0 {
		p.at++
	}
	text := p.text[begin:p.at]
	value, ok := readNumber(text)
	if !ok {
		return nil, fmt.Errorf("expected a value at '%s'", p.text[begin:])
	}
	return &node{kind: isNumber, text: text, value: value}, nil
}

// readNumber reads a number as Java's BigDecimal does.
func readNumber(text string) (any, bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return nil, false
	}
	_, err := strconv.ParseFloat(text, 64)
	return parseNumber(text), err == nil || errors.Is(err, strconv.ErrRange)
}

// json reads a list or an object, which need not be strict JSON: texts may stand
// in single quotes or in none.
func (p *pathParser) json() (*node, error) {
	begin := p.at
	value, err := p.loose(0)
	return &node{kind: isSource, text: p.text[begin:p.at], value: value}, err
}

// loose reads one value of a list or an object.
func (p *pathParser) loose(depth int) (any, error) {
	if depth > deepestFilter {
		return nil, fmt.Errorf("lists are nested deeper than %d levels", deepestFilter)
	}
	switch p.space(); p.peek() {
	case '[':
		list := []any{}
		err := p.listed(']', func() error {
			value, err := p.loose(depth + 1)
			list = append(list, value)
			return err
		})
		return list, err
	case '{':
		object := new(Object)
		err := p.listed('}', func() error {
			name, err := p.loose(depth + 1)
			if err != nil {
				return err
			}
			if p.space(); !p.take(":") {
				return errors.New("a member of an object has no value")
			}
			value, err := p.loose(depth + 1)
			object.Set(fmt.Sprint(name), value)
			return err
		})
		return object, err
	case '\'', '"':
		return p.quoted()
	}
	return p.bare(), nil
}

// listed reads what stands between commas up to a bracket.
func (p *pathParser) listed(closes byte, element func() error) error {
	for p.at++; ; {
		if p.space(); p.peek() == closes {
			p.at++
			return nil
		}
		if p.at >= len(p.text) {
			return errors.New("a list is not closed")
		}
		if p.take(",") {
			continue
		}
		begin := p.at
		if err := element(); err != nil {
			return err
		}
		if p.at == begin {
			return fmt.Errorf("expected a value at '%s'", p.text[p.at:])
		}
	}
}

// bare reads a number, a word of JSON's or a text without quotes.
func (p *pathParser) bare() any {
	end := strings.IndexAny(p.text[p.at:], ",:]}")
	if end < 0 {
		end = len(p.text) - p.at
	}
	word := strings.TrimSpace(p.text[p.at : p.at+end])
	p.at += end
	switch word {
	case "true", "false":
		return word == "true"
	case "null":
		return nil
	}
	if n, ok := readNumber(word); ok {
		return n
	}
	return word
}

// regexp reads `/pattern/flags`.
func (p *pathParser) regexp() (*Regexp, error) {
	end := p.unescaped(p.at+1, '/')
	if end < 0 {
		return nil, errors.New("a pattern is not closed")
	}
	source := p.text[p.at+1 : end]
	flags := end + 1
	for p.at = flags; p.at < len(p.text) && p.text[p.at] >= 'A' && p.text[p.at] <= 'z'; {
		p.at++
	}
	given := p.text[flags:p.at]
	// Case is Unicode's and so are classes, as u and U ask for.
	if known := strings.Trim(given, "imsuU"); known != "" {
		return nil, fmt.Errorf("the flags '%s' of /%s/ are not supported", given, source)
	}
	if inline := strings.NewReplacer("u", "", "U", "").Replace(given); inline != "" {
		source = "(?" + inline + ":" + source + ")"
	}
	return CompileWhole(source)
}
