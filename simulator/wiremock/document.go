// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"net/url"
	"strings"

	"github.com/ohler55/ojg/oj"
)

// document is a text that is parsed as JSON at most once.
type document struct {
	text   string
	parsed bool
	isJSON bool
	data   any
}

// json gives the text parsed; false if it is no JSON.
func (d *document) json() (any, bool) {
	if !d.parsed {
		d.parsed = true
		if strings.TrimSpace(d.text) != "" && nesting(d.text) <= deepestNesting {
			data, err := oj.ParseString(d.text)
			d.data, d.isJSON = data, err == nil
		}
	}
	return d.data, d.isJSON
}

// deepestNesting is how deep a client's JSON may be nested: what looks at it
// goes down by recursion. WireMock has the same limit.
const deepestNesting = 1000

// nesting tells how deep JSON is nested without parsing it.
func nesting(text string) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

func unescape(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
