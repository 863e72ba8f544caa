// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "slices"

// Replace returns a document of which what a path leads to is replaced by what
// change makes of it. A path that leads to several places, or nowhere, changes
// nothing; no path is the document itself. The document is not to be used any
// more.
func (p *Path) Replace(document any, change func(any) any) any {
	if p == nil {
		return change(document)
	}
	if !p.definite || p.function != nil {
		return document
	}
	return replace(p.steps, document, change)
}

func replace(steps []step, value any, change func(any) any) any {
	if len(steps) == 0 {
		return change(value)
	}
	switch s := steps[0].(type) {
	case child:
		if object, ok := value.(*Object); ok {
			if member, ok := object.Get(string(s)); ok {
				object.Set(string(s), replace(steps[1:], member, change))
			}
		}
	case nth:
		if array, ok := value.([]any); ok {
			i := int(s)
			if i < 0 {
				i += len(array)
			}
			if i >= 0 && i < len(array) {
				array[i] = replace(steps[1:], array[i], change)
			}
		}
	}
	return value
}

// removed stands for an element of an array that is to be taken out.
type removed struct{}

// Delete returns a document without what a path leads to; false for the document
// itself, which cannot be taken out of anything, and for lengths. The document is
// not to be used any more.
func (p *Path) Delete(document any, b *Budget) (rest any, ok bool) {
	last := len(p.steps) - 1
	if last < 0 || p.function != nil {
		return document, false
	}
	var parents []any
	e := &environment{root: document, budget: b}
	collect := func(place any) bool {
		parents = append(parents, place)
		return b.Spend(kept)
	}
	before := p.steps[:last]
	if last > 0 && before[last-1] == step(descent{}) {
		before = before[:last-1]
		above := walker{environment: e, visit: func(place any) bool { return everything(place, b, collect) }}
		above.walk(before, document, true)
	} else {
		above := walker{environment: e, visit: collect}
		above.walk(before, document, true)
	}
	for _, parent := range parents {
		remove(p.steps[last], parent, e)
	}
	return prune(document, b), true
}

// everything visits a value and all that is in it.
func everything(value any, b *Budget, visit func(any) bool) bool {
	if !b.Spend(1) || !visit(value) {
		return false
	}
	w := walker{environment: &environment{budget: b}}
	return w.elements(value, func(element any) bool { return everything(element, b, visit) })
}

func remove(last step, parent any, e *environment) {
	object, _ := parent.(*Object)
	array, _ := parent.([]any)
	switch s := last.(type) {
	case child:
		if object != nil {
			object.Remove(string(s))
		}
	case pick:
		for _, name := range s {
			if object != nil {
				object.Remove(name)
			}
		}
	case wildcard:
		if object != nil {
			*object = Object{}
		}
		for i := range array {
			array[i] = removed{}
		}
	case filter:
		for i := range array {
			if e.budget.Spend(1) && s.accepts(e, array[i]) {
				array[i] = removed{}
			}
		}
	default: // indexes and slices
		for _, i := range places(last, len(array)) {
			array[i] = removed{}
		}
	}
}

// places returns which elements of an array of a length a step leads to.
func places(s step, length int) (list []int) {
	numbers := make([]any, length)
	for i := range numbers {
		numbers[i] = i
	}
	b := Budget{kept * (length + 1) * 4}
	w := walker{environment: &environment{budget: &b}, visit: func(place any) bool {
		list = append(list, place.(int))
		return true
	}}
	w.walk([]step{s}, numbers, false)
	return list
}

// prune takes out the elements that are removed.
func prune(value any, b *Budget) any {
	if !b.Spend(1) {
		return value
	}
	switch v := value.(type) {
	case []any:
		v = slices.DeleteFunc(v, func(element any) bool {
			_, is := element.(removed)
			return is
		})
		for i := range v {
			v[i] = prune(v[i], b)
		}
		return v
	case *Object:
		for i := range v.Members {
			v.Members[i].Value = prune(v.Members[i].Value, b)
		}
	}
	return value
}
