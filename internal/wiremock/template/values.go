// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"math"
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

// number gives the value as a number, if it is one or reads as one. What is not
// finite is none.
func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, isFinite(v)
	case bool, nil:
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(toText(value)), 64)
	return f, err == nil && isFinite(f)
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// integer gives the value as a number without its fraction, if it is small
// enough for two of them to be subtracted.
func integer(value any) (int64, bool) {
	f, ok := number(value)
	if !ok || math.Abs(f) >= math.MaxInt64/2 {
		return 0, false
	}
	return int64(f), true
}

// first gives the first value of a repeated field, so that it compares as text.
func first(value any) any {
	if values, ok := value.([]string); ok {
		return values[0]
	}
	return value
}
