// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// appendCompact writes JSON without white space.
func appendCompact(buffer []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(buffer, "null"...)
	case string:
		return appendQuoted(buffer, v)
	case []any:
		buffer = append(buffer, '[')
		for i, element := range v {
			if i > 0 {
				buffer = append(buffer, ',')
			}
			buffer = appendCompact(buffer, element)
		}
		return append(buffer, ']')
	case map[string]any:
		buffer = append(buffer, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				buffer = append(buffer, ',')
			}
			buffer = append(appendQuoted(buffer, name), ':')
			buffer = appendCompact(buffer, v[name])
		}
		return append(buffer, '}')
	}
	return appendText(buffer, value)
}

// appendIndented writes JSON as Jackson indents it; members that are null are
// left out. The line break given contains the indentation.
func appendIndented(buffer []byte, value any, lineBreak string) []byte {
	switch v := value.(type) {
	case []any:
		if len(v) == 0 {
			return append(buffer, "[ ]"...)
		}
		buffer = append(buffer, "[ "...)
		for i, element := range v {
			if i > 0 {
				buffer = append(buffer, ", "...)
			}
			buffer = appendIndented(buffer, element, lineBreak)
		}
		return append(buffer, " ]"...)
	case map[string]any:
		start := len(buffer)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] == nil {
				continue
			}
			if len(buffer) == start {
				buffer = append(buffer, '{')
			} else {
				buffer = append(buffer, ',')
			}
			buffer = append(append(buffer, lineBreak...), "  "...)
			buffer = append(appendQuoted(buffer, name), " : "...)
			buffer = appendIndented(buffer, v[name], lineBreak+"  ")
		}
		if len(buffer) == start {
			return append(buffer, "{ }"...)
		}
		return append(append(buffer, lineBreak...), '}')
	}
	return appendCompact(buffer, value)
}

func appendQuoted(buffer []byte, s string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return append(buffer, strings.TrimSuffix(out.String(), "\n")...)
}
