// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock/eval"
)

func compileJSONMerge(c *call) (evaluator, error) {
	removeNulls := c.option("removeNulls", false)
	return func(s *scope) any {
		text := c.text(s, 0)
		value, ok := s.parse(text)
		if !ok {
			return problem("Base JSON is not valid JSON ('%s')", text)
		}
		base, ok := value.(*eval.Object)
		if !ok {
			return problem("Base JSON is not a JSON object ('%s')", text)
		}
		if text, ok = c.second(s); !ok {
			return problem("JSON to merge must be a string")
		}
		if value, ok = s.parse(text); !ok {
			return problem("JSON to merge is not valid JSON ('%s')", text)
		}
		other, ok := value.(*eval.Object)
		if !ok {
			return problem("JSON to merge is not a JSON object ('%s')", text)
		}
		mergeObjects(base, other, truthy(removeNulls(s)))
		return string(eval.AppendJSON(nil, base, s.budget))
	}, nil
}

// mergeObjects sets the members of another object, and those of objects within both.
func mergeObjects(base, other *eval.Object, removeNulls bool) {
	for _, m := range other.Members {
		known, _ := base.Get(m.Name)
		inner, isObject := known.(*eval.Object)
		more, both := m.Value.(*eval.Object)
		switch {
		case isObject && both:
			mergeObjects(inner, more, removeNulls)
		case m.Value == nil && removeNulls:
			base.Remove(m.Name)
		default:
			base.Set(m.Name, m.Value)
		}
	}
}

func compileJSONArrayAdd(c *call) (evaluator, error) {
	path, err := optional(c, "jsonPath", eval.CompilePath)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		text := c.text(s, 0)
		root, ok := s.parse(text)
		if !ok {
			return problem("Base JSON is not valid JSON ('%s')", text)
		}
		p, err := path(s)
		if err != nil {
			return problem("jsonPath option is not valid JSONPath expression ('%s')", toText(c.named["jsonPath"].value(s), s.budget))
		}
		detail := "'" + text + "'"
		if p != nil {
			detail = "root: " + detail + ", jsonPath: '" + p.String() + "'"
		}
		fault := problem("Target JSON is not a JSON array (%s)", detail)
		root = p.Replace(root, func(target any) any {
			list, ok := target.([]any)
			if !ok {
				return target
			}
			list, fault = c.extended(s, list)
			return list
		})
		if fault != "" {
			return fault
		}
		return string(eval.AppendJSON(nil, root, s.budget))
	}, nil
}

// extended returns a list with the item that is to be added.
func (c *call) extended(s *scope, list []any) (longer []any, fault string) {
	text, ok := c.second(s)
	if !ok {
		return nil, problem("Item-to-add JSON must be a string")
	}
	item, ok := s.parse(text)
	if !ok {
		return nil, problem("Item-to-add JSON is not valid JSON ('%s')", text)
	}
	if items, isList := item.([]any); isList && truthy(c.option("flatten", false)(s)) {
		list = append(list, items...)
	} else {
		list = append(list, item)
	}
	if o, given := c.named["maxItems"]; given {
		most, ok := integer(o.value(s))
		switch {
		case !ok:
			return nil, problem("maxItems option must be an integer")
		case most < 0:
			return nil, problem("maxItems option integer must be positive")
		}
		list = list[max(0, int64(len(list))-most):]
	}
	return list, ""
}

func compileJSONRemove(c *call) (evaluator, error) {
	path, err := compiled(c, "path", c.args[1], eval.CompilePath)
	if err != nil {
		return nil, err
	}
	return func(s *scope) any {
		text := c.text(s, 0)
		if text == "null" {
			return text
		}
		document, ok := s.parse(text)
		if !ok {
			return problem("Input JSON string is not valid JSON ('%s')", text)
		}
		p, err := path(s)
		if err != nil {
			return problem("JSONPath parameter is not a valid JSONPath expression ('%s')", c.text(s, 1))
		}
		document, ok = p.Delete(document, s.budget)
		if !ok {
			return problem("Delete operation cannot be applied to JSONPath expression ('%s')", p.String())
		}
		return string(eval.AppendJSON(nil, document, s.budget))
	}, nil
}
