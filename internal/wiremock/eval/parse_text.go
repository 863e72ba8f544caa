// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// quoted reads a text in single or double quotes.
func (p *pathParser) quoted() (string, error) {
	end := p.unescaped(p.at+1, p.text[p.at])
	if end < 0 {
		return "", errors.New("a quote is not closed")
	}
	text := p.text[p.at+1 : end]
	p.at = end + 1
	return unescape(text)
}

// unescaped returns where a character stands for itself next; less than 0:
// nowhere.
func (p *pathParser) unescaped(from int, c byte) int {
	for i := from; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// unescape reads what backslashes stand for.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == 'u' {
			if i+5 > len(text) {
				return "", fmt.Errorf(`\%s is not a character`, text[i:])
			}
			r, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			if err != nil {
				return "", fmt.Errorf(`\%s is not a character`, text[i:i+5])
			}
			out.WriteRune(rune(r))
			i += 4
			continue
		}
		if at := strings.IndexByte("rftnb", text[i]); at >= 0 {
			out.WriteByte("\r\f\t\n\b"[at])
			continue
		}
		out.WriteByte(text[i])
	}
	return out.String(), nil
}

// closing returns where the bracket at a place is closed, quotes left out; less
// than 0: nowhere.
func (p *pathParser) closing(at int, closes byte) int {
	opens, depth := p.text[at], 0
	for i := at; i < len(p.text); i++ {
		switch c := p.text[i]; c {
		case '\'', '"':
			if i = p.unescaped(i+1, c); i < 0 {
				return -1
			}
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
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
	for p.at < len(p.text) && slices.Contains([]byte(" \t\r\n"), p.text[p.at]) {
		p.at++
	}
}
