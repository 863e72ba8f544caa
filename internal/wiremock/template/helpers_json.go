// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/jsonpath"
)

func compileJSONPath(c *call) (evaluator, error) {
	text, err := c.known("path", c.args[1])
	if err != nil {
		return nil, err
	}
	path, err := jsonpath.Compile(text)
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
		if value, found := path.Get(data); found && value != nil {
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
			return jsonpath.Parse(value)
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
			return int64(len([]rune(value)))
		case []string:
			return int64(len(value))
		case []any:
			return int64(len(value))
		case map[string]any:
			return int64(len(value))
		}
		return nil
	}, nil
}
