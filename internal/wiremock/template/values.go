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

// asJSON is a list or an object that jsonPath found: it is written as JSON, unlike
// what parseJson and others make, which is written as Java does.
type asJSON struct{ value any }

// segments is a path, which is a list of its parts as well.
type segments struct {
	path  string
	parts []string
}

// nodes are those that an XPath leads to, of which the first stands for all.
type nodes []*eval.XML

// plain returns what a value is without the way in which it is written.
func plain(value any) any {
	switch v := value.(type) {
	case asJSON:
		return v.value
	case attributes:
		return v.object()
	}
	return value
}

// elementsOf returns the elements of a list of any kind.
func elementsOf(value any) (list []any, isList bool) {
	switch v := plain(value).(type) {
	case []any:
		return v, true
	case []string:
		return anyOf(v), true
	case segments:
		return anyOf(v.parts), true
	case nodes:
		return anyOf(v), true
	}
	return nil, false
}

func anyOf[T any](values []T) []any {
	list := make([]any, len(values))
	for i := range values {
		list[i] = values[i]
	}
	return list
}

// appendText writes a value as WireMock does: a repeated field by its first
// value, what jsonPath found as JSON, other lists and objects as Java writes
// them, a fraction as well.
func appendText(buffer []byte, value any, b *eval.Budget) []byte {
	switch v := value.(type) {
	case nil:
		return buffer
	case string:
		return appendBounded(buffer, v, b)
	case []string:
		return appendBounded(buffer, v[0], b)
	case segments:
		return appendBounded(buffer, v.path, b)
	case date:
		return v.append(buffer, b)
	case content:
		return appendBounded(buffer, v.node.Content(b), b)
	case attributes:
		return appendJava(buffer, v.object(), b)
	case nodes:
		if len(v) == 0 {
			return buffer
		}
		return eval.AppendXML(buffer, v[0], true, b)
	case *eval.XML:
		return eval.AppendXML(buffer, v, true, b)
	case asJSON:
		if list, ok := v.value.([]any); ok {
			return eval.AppendJSON(buffer, list, b)
		}
		return eval.AppendIndented(buffer, v.value, b)
	case []any, *eval.Object:
		return appendJava(buffer, value, b)
	}
	return eval.AppendScalar(buffer, value)
}

// appendJava writes lists as [a, b] and objects as {name=value}.
func appendJava(buffer []byte, value any, b *eval.Budget) []byte {
	if !b.Spend(2) {
		return buffer
	}
	switch v := value.(type) {
	case nil:
		return append(buffer, "null"...)
	case []any:
		buffer = append(buffer, '[')
		for i, element := range v {
			if i > 0 {
				buffer = append(buffer, ", "...)
			}
			buffer = appendJava(buffer, element, b)
		}
		return append(buffer, ']')
	case *eval.Object:
		buffer = append(buffer, '{')
		for i, m := range v.Members {
			if i > 0 {
				buffer = append(buffer, ", "...)
			}
			buffer = appendJava(append(appendBounded(buffer, m.Name, b), '='), m.Value, b)
		}
		return append(buffer, '}')
	}
	return appendText(buffer, plain(value), b)
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
	switch v := plain(value).(type) {
	case nil:
		return false
	case bool:
		return v
	case nodes:
		return len(v) > 0
	case content:
		return len(v.node.Children) > 0 || v.node.Text != ""
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return v != 0
	case json.Number:
		f, ok := parseNumber(string(v))
		return !ok || f != 0
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
	case nodes:
		if len(v) == 1 {
			return parseNumber(v[0].Text)
		}
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

// first returns the first value of a repeated field, so that it compares as
// text, as do the path and what an XPath leads to.
func first(value any, b *eval.Budget) any {
	switch value.(type) {
	case []string, segments, nodes, *eval.XML, content, date:
		return toText(value, b)
	}
	return plain(value)
}

func compileJSONPath(c *call) (evaluator, error) {
	path, err := compiled(c, "path", c.args[1], func(text string) (*eval.Path, error) {
		path, err := eval.CompilePath(text)
		if err != nil {
			return nil, err
		}
		return path.WithNulls(), nil
	})
	if err != nil {
		return nil, err
	}
	document, otherwise := jsonDocument(c.args[0]), c.option("default", nil)
	return func(s *scope) any {
		data, ok := document(s)
		switch {
		case !ok && toText(c.args[0].value(s), s.budget) == "":
			return nil
		case !ok:
			return otherwise(s)
		}
		path, err := path(s)
		if err != nil {
			return problem("%s is not a valid JSONPath expression", c.text(s, 1))
		}
		if value, outcome := path.Get(data, s.budget); outcome == eval.Found && value != nil {
			return wrapped(value)
		}
		return otherwise(s)
	}, nil
}

// wrapped has lists and objects written as JSON.
func wrapped(value any) any {
	switch value.(type) {
	case []any, *eval.Object:
		return asJSON{value}
	}
	return value
}

// jsonDocument parses an argument; the body has been parsed by the request.
func jsonDocument(o operand) func(s *scope) (any, bool) {
	if o.text == "request.body" || o.text == "originalRequest.body" {
		return func(s *scope) (any, bool) { return s.request.JSON() }
	}
	return func(s *scope) (any, bool) {
		switch value := first(o.value(s), s.budget).(type) {
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
		value := plain(c.args[0].value(s))
		switch value := value.(type) {
		case string:
			s.budget.Read(len(value))
			return int64(utf8.RuneCountInString(value))
		case *eval.Object:
			return int64(value.Len())
		}
		if list, ok := elementsOf(value); ok {
			return int64(len(list))
		}
		return nil
	}, nil
}
