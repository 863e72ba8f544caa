// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// appendText writes a value as WireMock does: a repeated field by its first
// value, an array as compact and an object as indented JSON, a fraction as
// Java writes it.
func appendText(buffer []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return buffer
	case string:
		return append(buffer, v...)
	case []string:
		return append(buffer, v[0]...)
	case int64:
		return strconv.AppendInt(buffer, v, 10)
	case float64:
		return append(buffer, javaDouble(v)...)
	case bool:
		return strconv.AppendBool(buffer, v)
	case json.Number:
		return append(buffer, v...)
	case []any:
		return appendCompact(buffer, v)
	}
	return appendIndented(buffer, value, "\n")
}

// Text gives a value of JSON as templates write it.
func Text(value any) string { return toText(value) }

// toText gives what appendText writes.
func toText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	return string(appendText(nil, value))
}

// javaDouble writes a number as Java's Double.toString: always with a
// fraction, with an exponent outside of a thousandth to ten million.
func javaDouble(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

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

// truthy tells whether a block like if takes its first branch.
func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	}
	return true
}

// number gives the value as a number, if it is one or reads as one.
func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case bool, nil:
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(toText(value)), 64)
	return f, err == nil
}

// first gives the first value of a repeated field, so that it compares as text.
func first(value any) any {
	if values, ok := value.([]string); ok {
		return values[0]
	}
	return value
}
