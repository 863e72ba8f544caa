// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"encoding/json"
	"strings"
)

// What follows goes through valid JSON as it is written, by places in the text,
// without building anything of it.

// nextValue returns where the next value or closing bracket begins at or after i.
func nextValue(text string, i int) int {
	for i < len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// isClosing reports whether a list or an object ends at i.
func isClosing(text string, i int) bool { return text[i] == ']' || text[i] == '}' }

// endOfValue returns where the value ends that begins at i.
func endOfValue(text string, i int) int {
	switch text[i] {
	case '"':
		return endOfQuoted(text, i)
	case '[', '{':
		return endOfBracketed(text, i)
	}
	for i < len(text) {
		switch text[i] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return i
		}
		i++
	}
	return i
}

func endOfBracketed(text string, i int) int {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = endOfQuoted(text, i) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

func endOfQuoted(text string, i int) int {
	for i++; i < len(text); i++ {
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
