// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"maps"
	"math"
	"slices"

	"github.com/ohler55/ojg/jp"
)

// walk appends to found what the steps lead to from a value.
func walk(steps []jp.Frag, value any, found []any) []any {
	if len(steps) == 0 {
		if found == nil {
			found = make([]any, 0, 1)
		}
		return append(found, value)
	}
	rest := steps[1:]
	switch step := steps[0].(type) {
	case jp.Child:
		if object, ok := value.(map[string]any); ok {
			if member, ok := object[string(step)]; ok {
				return walk(rest, member, found)
			}
		}
	case leaf:
		if object, ok := value.(map[string]any); ok {
			return append(found, object[string(step.Child)])
		}
	case jp.Nth:
		if array, ok := value.([]any); ok {
			return walkIndex(rest, array, int(step), found)
		}
	case jp.Wildcard:
		for _, element := range elements(value) {
			found = walk(rest, element, found)
		}
	case jp.Descent:
		return descend(rest, value, found)
	case jp.Slice:
		if array, ok := value.([]any); ok {
			for _, element := range slice(array, step) {
				found = walk(rest, element, found)
			}
		}
	case jp.Union:
		return walkUnion(step, rest, value, found)
	case *jp.Filter:
		return walkFilter(step, rest, value, found)
	}
	return found
}

func walkIndex(rest []jp.Frag, array []any, i int, found []any) []any {
	if i < 0 {
		i += len(array)
	}
	if i < 0 || i >= len(array) {
		return found
	}
	return walk(rest, array[i], found)
}

func walkUnion(union jp.Union, rest []jp.Frag, value any, found []any) []any {
	for _, part := range union {
		switch part := part.(type) {
		case int64:
			if array, ok := value.([]any); ok {
				found = walkIndex(rest, array, int(part), found)
			}
		case string:
			if object, ok := value.(map[string]any); ok {
				if member, ok := object[part]; ok {
					found = walk(rest, member, found)
				}
			}
		}
	}
	return found
}

func walkFilter(filter *jp.Filter, rest []jp.Frag, value any, found []any) []any {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if filter.Match(element) {
				found = walk(rest, element, found)
			}
		}
	case map[string]any:
		if filter.Match(value) {
			return walk(rest, value, found)
		}
	}
	return found
}

func descend(rest []jp.Frag, value any, found []any) []any {
	found = walk(rest, value, found)
	for _, element := range elements(value) {
		found = descend(rest, element, found)
	}
	return found
}

// elements gives what a value consists of; members of an object by their names.
func elements(value any) []any {
	switch value := value.(type) {
	case []any:
		return value
	case map[string]any:
		members := make([]any, 0, len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			members = append(members, value[name])
		}
		return members
	}
	return nil
}

func slice(array []any, bounds jp.Slice) []any {
	const open = math.MaxInt32 // what the parser puts for a bound that is not given
	start, end, step := 0, len(array), 1
	if bounds[0] != open {
		start = within(bounds[0], len(array))
	}
	if bounds[1] != open {
		end = within(bounds[1], len(array))
	}
	if bounds[2] > 0 && bounds[2] < len(array) {
		step = bounds[2]
	}
	var chosen []any
	for i := start; i < end; i += step {
		chosen = append(chosen, array[i])
	}
	return chosen
}

func within(i, length int) int {
	if i < 0 {
		i += length
	}
	return min(max(i, 0), length)
}
