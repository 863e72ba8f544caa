// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

// appendText writes a value as WireMock does: a repeated field by its first
// value, an array as compact and an object as indented JSON, a fraction as
// Java writes it.
func appendText(buffer []byte, value any, b *eval.Budget) []byte {
	switch v := value.(type) {
	case nil:
		return buffer
	case string:
		return appendBounded(buffer, v, b)
	case []string:
		return appendBounded(buffer, v[0], b)
	case []any:
		return eval.AppendJSON(buffer, v, b)
	case *eval.Object:
		return eval.AppendIndented(buffer, v, b)
	}
	return eval.AppendScalar(buffer, value)
}

func appendBounded(buffer []byte, text string, b *eval.Budget) []byte {
	if !b.Spend(len(text)) {
		return buffer
	}
	return append(buffer, text...)
}

// toText returns what appendText writes. What is text already costs nothing.
func toText(value any, b *eval.Budget) string {
	switch v := value.(type) {
	case string:
		return v
	case []string:
		return v[0]
	}
	return string(appendText(nil, value, b))
}

// truthy reports whether a block like if takes its first branch.
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

// number returns the value as a number, if it is one or reads as one. What is
// not finite is none.
func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, isFinite(v)
	case json.Number:
		return parseNumber(string(v))
	case string:
		return parseNumber(v)
	case []string:
		return parseNumber(v[0])
	}
	return 0, false
}

func parseNumber(text string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return f, err == nil && isFinite(f)
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// integer returns the value as a number without its fraction, if it is small
// enough for two of them to be subtracted.
func integer(value any) (int64, bool) {
	f, ok := number(value)
	if !ok || math.Abs(f) >= math.MaxInt64/2 {
		return 0, false
	}
	return int64(f), true
}

// first returns the first value of a repeated field, so that it compares as text.
func first(value any) any {
	if values, ok := value.([]string); ok {
		return values[0]
	}
	return value
}

func compileJSONPath(c *call) (evaluator, error) {
	text, err := c.known("path", c.args[1])
	if err != nil {
		return nil, err
	}
	path, err := eval.CompilePath(text)
	if err != nil {
		return nil, err
	}
	path = path.WithNulls()
	document, otherwise := jsonDocument(c.args[0]), c.option("default", nil)
	return func(s *scope) any {
		data, ok := document(s)
		if !ok {
			return nil
		}
		if value, outcome := path.Get(data, s.budget); outcome == eval.Found && value != nil {
			return value
		}
		return otherwise(s)
	}, nil
}

// jsonDocument parses an argument; the body has been parsed by the request.
func jsonDocument(o operand) func(s *scope) (any, bool) {
	if o.text == "request.body" {
		return func(s *scope) (any, bool) { return s.request.JSON() }
	}
	return func(s *scope) (any, bool) {
		switch value := first(o.value(s)).(type) {
		case string:
			if !s.budget.Spend(len(value)) {
				return nil, false
			}
			return eval.ParseJSON(value)
		case nil:
			return nil, false
		default:
			return value, true
		}
	}
}

func compileSize(c *call) (evaluator, error) {
	return func(s *scope) any {
		switch value := c.args[0].value(s).(type) {
		case string:
			s.budget.Read(len(value))
			return int64(utf8.RuneCountInString(value))
		case []string:
			return int64(len(value))
		case []any:
			return int64(len(value))
		case *eval.Object:
			return int64(value.Len())
		}
		return nil
	}, nil
}
