// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"encoding/json"
	"strings"

	"github.com/ohler55/ojg/oj"
)

// deepest is how deep a client's JSON may be nested: what looks at it goes down
// by recursion. WireMock has the same limit.
const deepest = 1000

// Largest is the size in bytes up to which a text counts as JSON: parsed it takes
// many times its memory.
const Largest = 4 << 20

// Valid tells whether a text is JSON that is no larger than Largest and nested no
// deeper than 1000 levels.
func Valid(text string) bool { return !excessive(text) && json.Valid([]byte(text)) }

// Parse gives JSON as Get takes it; false if the text is none, is larger than
// Largest or is nested deeper than 1000 levels.
func Parse(text string) (document any, ok bool) {
	if excessive(text) || strings.TrimSpace(text) == "" {
		return nil, false
	}
	document, err := oj.ParseString(text)
	return document, err == nil
}

func excessive(text string) bool { return len(text) > Largest || nesting(text) > deepest }

// nesting tells how deep JSON is nested without parsing it.
func nesting(text string) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			most = max(most, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return most
}
