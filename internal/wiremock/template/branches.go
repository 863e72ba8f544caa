// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"maps"
	"slices"
)

type condition struct {
	value evaluator
	branches
}

func (c condition) render(buffer []byte, s *scope) []byte {
	if truthy(c.value(s)) {
		return render(buffer, c.body, s)
	}
	return render(buffer, c.otherwise, s)
}

type with struct {
	value evaluator
	local string
	branches
}

func (w with) render(buffer []byte, s *scope) []byte {
	value := w.value(s)
	if !truthy(value) {
		return render(buffer, w.otherwise, s)
	}
	return render(buffer, w.body, &scope{request: s.request, this: value, outer: s, local: w.local})
}

type loop struct {
	value evaluator
	local string
	branches
}

func (l loop) render(buffer []byte, s *scope) []byte {
	inner := &scope{request: s.request, outer: s, local: l.local}
	element := func(key, value any, i, length int) {
		inner.this, inner.key, inner.first, inner.last = value, key, i == 0, i == length-1
		buffer = render(buffer, l.body, inner)
	}
	switch list := l.value(s).(type) {
	case []any:
		for i, value := range list {
			element(int64(i), value, i, len(list))
		}
		if len(list) > 0 {
			return buffer
		}
	case []string:
		for i, value := range list {
			element(int64(i), value, i, len(list))
		}
		return buffer
	case map[string]any:
		for i, name := range slices.Sorted(maps.Keys(list)) {
			element(name, list[name], i, len(list))
		}
		if len(list) > 0 {
			return buffer
		}
	}
	return render(buffer, l.otherwise, s)
}
