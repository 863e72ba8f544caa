// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import "errors"

// Set is a set of paths, seen from one place of a document: whoever walks the
// document goes along with Child and Element. Nil is the set of no paths, so a
// walk may skip everything below it. A Set never changes.
type Set struct {
	here    bool
	named   map[string]*Set
	element *Set // for every name that named doesn't have, and every element
}

// maxSets bounds the places of one set: paths with many [*] over one another
// multiply.
const maxSets = 100_000

// NewSet returns the set of paths, seen from the top of the document; nil if
// there are none. It fails where they are too many.
func NewSet(paths ...Path) (*Set, error) {
	left := maxSets
	s := newSet(paths, &left)
	if left < 0 {
		return nil, errors.New("the JSON paths are too many: expected fewer with [*] over one another")
	}
	return s, nil
}

func newSet(paths []Path, left *int) *Set {
	if *left--; len(paths) == 0 || *left < 0 {
		return nil
	}
	s := &Set{}
	var every []Path
	byName := make(map[string][]Path)
	for _, p := range paths {
		switch {
		case len(p) == 0:
			s.here = true
		case p[0].Any:
			every = append(every, p[1:])
		default:
			byName[p[0].Name] = append(byName[p[0].Name], p[1:])
		}
	}
	s.element = newSet(every, left)
	for name, below := range byName {
		if s.named == nil {
			s.named = make(map[string]*Set, len(byName))
		}
		s.named[name] = newSet(append(below, every...), left)
	}
	return s
}

// Here reports whether one of the paths ends at this place.
func (s *Set) Here() bool { return s != nil && s.here }

// Child returns the paths seen from the member of a name.
func (s *Set) Child(name []byte) *Set {
	if s == nil {
		return nil
	}
	if below, ok := s.named[string(name)]; ok {
		return below
	}
	return s.element
}

// Element returns the paths seen from an element of the array.
func (s *Set) Element() *Set {
	if s == nil {
		return nil
	}
	return s.element
}
