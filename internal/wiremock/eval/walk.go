// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

// environment is what the evaluation of a path, and of the filters within it,
// shares.
type environment struct {
	root   any
	budget *Budget
	failed bool            // evaluation is given up
	nulls  bool            // an object without the member that a path ends on has null there
	known  map[*Path]*node // what paths from the root within filters lead to
}

// walker follows the steps of a path. Its functions report whether to go on:
// not where the budget ends, evaluation fails or nothing more is wanted.
type walker struct {
	*environment
	visit   func(place any) bool
	strict  bool // a member that is not there ends the walk
	isInner bool // something comes behind the steps
	missing bool // what has to be there is not
}

// notThere ends the walk where the path had to lead somewhere.
func (w *walker) notThere(required bool) bool {
	w.missing = w.missing || required
	return !required
}

// walk visits what the steps lead to from a value. Definite is whether the steps
// before lead to one place at most.
func (w *walker) walk(steps []step, value any, definite bool) bool {
	if !w.budget.Spend(1) || w.failed {
		return false
	}
	if len(steps) == 0 {
		return w.visit(value)
	}
	rest := steps[1:]
	switch s := steps[0].(type) {
	case child:
		return w.member(rest, value, string(s), definite)
	case pick:
		return w.pick(s, value, definite)
	case nth:
		return w.element(rest, value, int(s), definite)
	case wildcard:
		return w.elements(value, func(element any) bool { return w.walk(rest, element, false) })
	case descent:
		return w.descend(rest, value)
	case slice:
		return w.slice(s, rest, value, definite)
	case union:
		return w.union(s, rest, value, definite)
	case filter:
		return w.filter(s, rest, value, definite)
	}
	return true
}

func (w *walker) member(rest []step, value any, name string, definite bool) bool {
	object, ok := value.(*Object)
	if !ok {
		return w.notThere(definite)
	}
	member, ok := object.Get(name)
	if !ok && !w.fills(rest) {
		return w.notThere(w.strict || definite && len(rest) > 0)
	}
	return w.walk(rest, member, definite)
}

// fills reports whether what is not there at the end of a path is null.
func (w *walker) fills(rest []step) bool { return w.nulls && !w.strict && !w.isInner && len(rest) == 0 }

func (w *walker) pick(names pick, value any, definite bool) bool {
	object, ok := value.(*Object)
	if !ok {
		return w.notThere(definite)
	}
	if !w.budget.Spend(kept * len(names)) {
		return false
	}
	picked := new(Object)
	for _, name := range names {
		if member, ok := object.Get(name); ok || w.fills(nil) {
			picked.Set(name, member)
		} else if w.strict {
			return w.notThere(true)
		}
	}
	return w.visit(picked)
}

func (w *walker) element(rest []step, value any, i int, definite bool) bool {
	array, ok := value.([]any)
	if !ok {
		return w.notThere(definite)
	}
	if i < 0 {
		i += len(array)
	}
	if i < 0 || i >= len(array) {
		return true
	}
	return w.walk(rest, array[i], definite)
}

func (w *walker) union(parts union, rest []step, value any, definite bool) bool {
	for _, part := range parts {
		on := true
		switch part := part.(type) {
		case child:
			object, ok := value.(*Object)
			if !ok {
				return w.notThere(definite)
			}
			if member, ok := object.Get(string(part)); ok {
				on = w.walk(rest, member, false)
			} else {
				on = w.notThere(w.strict)
			}
		case nth:
			if _, ok := value.([]any); !ok {
				return w.notThere(definite)
			}
			on = w.element(rest, value, int(part), false)
		}
		if !on {
			return false
		}
	}
	return true
}

func (w *walker) filter(f filter, rest []step, value any, definite bool) bool {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if !w.budget.Spend(1) || f.accepts(w.environment, element) && !w.walk(rest, element, false) {
				return false
			}
		}
	case *Object:
		return !f.accepts(w.environment, value) || w.walk(rest, value, false)
	default:
		return w.notThere(definite)
	}
	return true
}

// accepts reports whether a value stays.
func (f filter) accepts(e *environment, value any) bool {
	return !e.failed && f.test(e, value) == yes && !e.failed
}

// descend walks from a value and everything in it. Of what is neither object nor
// array nothing is looked at.
func (w *walker) descend(rest []step, value any) bool {
	switch value.(type) {
	case []any, *Object:
		return w.deeper(rest, value) && w.elements(value, func(element any) bool { return w.descend(rest, element) })
	}
	return w.budget.Spend(1)
}

// deeper walks from a value below `..` if the next step is for what it is.
func (w *walker) deeper(rest []step, value any) bool {
	object, isObject := value.(*Object)
	switch s := rest[0].(type) {
	case child:
		if _, ok := object.Get(string(s)); !ok && (!isObject || !w.fills(rest[1:])) {
			return w.budget.Spend(1)
		}
	case pick:
		for _, name := range s {
			if _, ok := object.Get(name); !ok && (!isObject || !w.fills(nil)) {
				return w.budget.Spend(1)
			}
		}
	case filter: // an array has to meet it itself for its elements to be tested
		if !isObject && !s.accepts(w.environment, value) {
			return w.budget.Spend(1) && !w.failed
		}
	}
	return w.walk(rest, value, false)
}

// elements calls each with what a value consists of.
func (w *walker) elements(value any, each func(any) bool) bool {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if !w.budget.Spend(1) || !each(element) {
				return false
			}
		}
	case *Object:
		for _, m := range value.Members {
			if !w.budget.Spend(1) || !each(m.Value) {
				return false
			}
		}
	}
	return true
}

// slice walks from a part of an array. Negative bounds count from its end, but
// for the second of two, with which what comes before it is left out.
func (w *walker) slice(bounds slice, rest []step, value any, definite bool) bool {
	array, ok := value.([]any)
	if !ok {
		return w.notThere(definite)
	}
	n := len(array)
	start, end := 0, n
	switch {
	case bounds.end == nil:
		if start = *bounds.start; start < 0 {
			start = max(0, start+n)
		}
	case bounds.start == nil:
		if end = *bounds.end; end < 0 {
			end += n
		}
		end = min(end, n)
	default:
		start, end = max(*bounds.start, -n), min(*bounds.end, n)
	}
	for i := start; i < end; i++ {
		if !w.element(rest, value, i, false) {
			return false
		}
	}
	return true
}
