// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// jsonScanner goes through an array or an object in valid JSON without building
// anything of it.
type jsonScanner struct {
	rest   string
	budget *eval.Budget
}

// scanJSON starts behind the opening bracket.
func scanJSON(text string, b *eval.Budget) jsonScanner { return jsonScanner{text[1:], b} }

// element returns the next element of an array as it is written; there are no
// more where the budget ends.
func (s *jsonScanner) element() (value string, more bool) {
	s.rest = trimJSON(s.rest)
	if s.rest[0] == ']' || s.rest[0] == '}' {
		return "", false
	}
	length := jsonLength(s.rest)
	if !s.budget.Read(length) {
		return "", false
	}
	value, s.rest = s.rest[:length], s.rest[length:]
	return value, true
}

// member returns the next member of an object, its value as it is written.
func (s *jsonScanner) member() (name, value string, more bool) {
	if name, more = s.element(); !more {
		return "", "", false
	}
	if value, more = s.element(); !more {
		return "", "", false
	}
	return jsonString(name), value, true
}

// trimJSON removes what stands between values.
func trimJSON(text string) string {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return text[i:]
		}
	}
	return ""
}

// jsonLength returns the length of the value that a text begins with.
func jsonLength(text string) int {
	switch text[0] {
	case '"':
		return quotedLength(text)
	case '[', '{':
		return bracketedLength(text)
	}
	if end := strings.IndexAny(text, ",]} \t\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

func bracketedLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quotedLength(text[i:]) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// jsonString returns the content of a JSON string in quotes.
func jsonString(quoted string) string {
	inner := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner
	}
	return text
}
