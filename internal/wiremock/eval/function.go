// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"
	"slices"
	"strings"
)

// function is what a path may end on.
type function struct {
	compute    func(f *function, value any, e *environment) (any, Outcome)
	index      int  // of index(n), first() and last()
	everywhere bool // may end a path that begins with `..`
	ofAll      bool // ends one
}

// functions are those of Jayway's that take no path as their argument.
var functions = map[string]function{
	"length": {compute: lengthOf, everywhere: true},
	"size":   {compute: lengthOf, everywhere: true},
	"min":    aggregate(slices.Min[[]float64]),
	"max":    aggregate(slices.Max[[]float64]),
	"sum":    aggregate(sum),
	"avg":    aggregate(func(n []float64) float64 { return sum(n) / float64(len(n)) }),
	"stddev": aggregate(deviation),
	"concat": {compute: concatenated, everywhere: true},
	"keys":   {compute: keysOf},
	"first":  {compute: elementOf},
	"last":   {compute: elementOf, index: -1},
	"index":  {compute: elementOf},
}

// call returns what the function makes of what its path leads to.
func (p *Path) call(from any, e *environment) (any, Outcome) {
	path := *p
	path.function, path.isInner = nil, true
	if p.function.ofAll {
		path.definite = false
		found, outcome := path.get(from, e)
		if outcome != Found {
			return nil, outcome
		}
		return p.function.compute(p.function, found, e)
	}
	found, outcome := path.get(from, e)
	if outcome != Found {
		return nil, outcome
	}
	if p.definite {
		return p.function.compute(p.function, found, e)
	}
	results := found.([]any)
	for i := range results {
		if results[i], outcome = p.function.compute(p.function, results[i], e); outcome != Found {
			return nil, outcome
		}
	}
	return results, Found
}

// lengthOf counts the elements or members of a value; anything else has null for
// a length. At the end of a path with `..` what each of the values consists of
// is counted.
func lengthOf(f *function, value any, e *environment) (any, Outcome) {
	list, isList := value.([]any)
	if f.ofAll {
		total := 0
		for _, element := range list {
			total += max(size(element), 0)
			e.budget.Spend(1)
		}
		return int64(total), Found
	}
	if n := size(value); n >= 0 || isList {
		return int64(n), Found
	}
	return nil, Found
}

// size returns how many elements or members a value has; less than 0 for what is
// neither a list nor an object.
func size(value any) int {
	switch v := value.(type) {
	case []any:
		return len(v)
	case *Object:
		return v.Len()
	}
	return -1
}

// aggregate returns a function of the numbers in a list, of which there has to
// be one.
func aggregate(compute func(numbers []float64) float64) function {
	return function{everywhere: true, compute: func(_ *function, value any, e *environment) (any, Outcome) {
		list, _ := value.([]any)
		if !e.budget.Spend(len(list)) {
			return nil, Failed
		}
		var numbers []float64
		for _, element := range list {
			if f, ok := float(element); ok {
				numbers = append(numbers, f)
			}
		}
		if len(numbers) == 0 {
			e.failed = true
			return nil, Failed
		}
		return compute(numbers), Found
	}}
}

func sum(numbers []float64) (total float64) {
	for _, n := range numbers {
		total += n
	}
	return total
}

func deviation(numbers []float64) float64 {
	n, squares := float64(len(numbers)), 0.0
	for _, x := range numbers {
		squares += x * x
	}
	mean := sum(numbers) / n
	return math.Sqrt(squares/n - mean*mean)
}

func concatenated(_ *function, value any, e *environment) (any, Outcome) {
	list, _ := value.([]any)
	var out strings.Builder
	for _, element := range list {
		if text, ok := element.(string); ok && e.budget.Spend(1+len(text)) {
			out.WriteString(text)
		}
	}
	return out.String(), Found
}

func keysOf(_ *function, value any, e *environment) (any, Outcome) {
	object, ok := value.(*Object)
	if !ok || !e.budget.Spend(kept*object.Len()) {
		return nil, Found
	}
	keys := make([]any, 0, object.Len())
	for _, m := range object.Members {
		keys = append(keys, m.Name)
	}
	return keys, Found
}

// elementOf returns an element of a list; counted from its end, the first cannot
// be reached.
func elementOf(f *function, value any, e *environment) (any, Outcome) {
	list, ok := value.([]any)
	i := f.index
	if i < 0 {
		if i += len(list); i <= 0 {
			i = -1
		}
	}
	if !ok || i < 0 || i >= len(list) {
		e.failed = true
		return nil, Failed
	}
	return list[i], Found
}
