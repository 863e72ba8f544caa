// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"maps"
	"slices"
)

// walker follows the steps of a path. Its functions report whether to go on:
// not where the budget ends or nothing more is wanted.
type walker struct {
	root   any
	budget *Budget
	visit  func(place any) bool
}

// walk visits what the steps lead to from a value.
func (w *walker) walk(steps []step, value any) bool {
	if !w.budget.Spend(1) {
		return false
	}
	if len(steps) == 0 {
		return w.visit(value)
	}
	rest := steps[1:]
	switch s := steps[0].(type) {
	case child:
		return w.member(rest, value, string(s))
	case leaf:
		if object, ok := value.(map[string]any); ok {
			return w.visit(object[string(s)])
		}
	case nth:
		return w.element(rest, value, int(s))
	case wildcard:
		return w.elements(value, func(element any) bool { return w.walk(rest, element) })
	case descent:
		return w.descend(rest, value)
	case slice:
		return w.slice(s, rest, value)
	case union:
		for _, part := range s {
			if !w.walk(append([]step{part}, rest...), value) {
				return false
			}
		}
	case filter:
		return w.filter(s, rest, value)
	}
	return true
}

func (w *walker) member(rest []step, value any, name string) bool {
	if object, ok := value.(map[string]any); ok {
		if member, ok := object[name]; ok {
			return w.walk(rest, member)
		}
	}
	return true
}

func (w *walker) element(rest []step, value any, i int) bool {
	array, ok := value.([]any)
	if i < 0 {
		i += len(array)
	}
	if !ok || i < 0 || i >= len(array) {
		return true
	}
	return w.walk(rest, array[i])
}

func (w *walker) filter(f filter, rest []step, value any) bool {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if !w.budget.Spend(1) || f.test(w, element) && !w.walk(rest, element) {
				return false
			}
		}
	case map[string]any:
		return !f.test(w, value) || w.walk(rest, value)
	}
	return true
}

func (w *walker) descend(rest []step, value any) bool {
	return w.walk(rest, value) && w.elements(value, func(element any) bool { return w.descend(rest, element) })
}

// elements calls each with what a value consists of; members of an object by
// their names.
func (w *walker) elements(value any, each func(any) bool) bool {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if !w.budget.Spend(1) || !each(element) {
				return false
			}
		}
	case map[string]any:
		if !w.budget.Spend(kept * len(value)) {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !each(value[name]) {
				return false
			}
		}
	}
	return true
}

func (w *walker) slice(bounds slice, rest []step, value any) bool {
	array, ok := value.([]any)
	if !ok {
		return true
	}
	start, end, by := within(bounds.start, 0, len(array)), within(bounds.end, len(array), len(array)), 1
	if bounds.step != nil && *bounds.step > 0 && *bounds.step < len(array) {
		by = *bounds.step
	}
	for i := start; i < end; i += by {
		if !w.walk(rest, array[i]) {
			return false
		}
	}
	return true
}

// within returns a bound of a slice; one that is negative counts from the end.
func within(bound *int, otherwise, length int) int {
	if bound == nil {
		return otherwise
	}
	i := *bound
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length)
}
