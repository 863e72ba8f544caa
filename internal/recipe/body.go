// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"fmt"
	"regexp"
)

// hole is a place in a body that becomes random text.
var hole = regexp.MustCompile(`<<[^<>\s]+>>`)

// LargestBody is the most that a body may hold, its holes filled.
const LargestBody = 64 << 20

// LargestContents is the most that all contents that are kept in memory may hold
// together: those of one recipe, and those of all recipes of a scenario.
const LargestContents = 512 << 20

// ErrContents refuses what does not fit in.
var ErrContents = fmt.Errorf("the contents of all recipes hold more than %d bytes together; random_content takes none", LargestContents)

// FillBody replaces the holes of a body with what fill gives for their sizes.
func FillBody(body string, fill func(size int64) []byte) []byte {
	return hole.ReplaceAllFunc([]byte(body), func(match []byte) []byte {
		size, _ := ParseSize(string(match[2 : len(match)-2]))
		return fill(int64(size))
	})
}

// checkBody refuses holes without a size and what becomes too large.
func checkBody(body string) error {
	size, err := sizeOf(body)
	if err == nil && size > LargestBody {
		err = fmt.Errorf("too large: %d bytes, at most %d; random_content can be larger", size, LargestBody)
	}
	return err
}

// sizeOf gives the size of a body, its holes filled.
func sizeOf(body string) (int64, error) {
	total := int64(len(body))
	for _, match := range hole.FindAllString(body, -1) {
		size, err := ParseSize(match[2 : len(match)-2])
		if err != nil {
			return 0, fmt.Errorf("in %s: %v", match, err)
		}
		total += int64(size) - int64(len(match))
	}
	return total, nil
}

// BodySize gives the size of all bodies of a recipe that was checked, those of
// its stages too, their holes filled.
func (r *Recipe) BodySize() (total int64) {
	add := func(body *string) {
		if body != nil {
			size, _ := sizeOf(*body)
			total += size
		}
	}
	add(r.Body)
	for i := range r.Stages {
		add(r.Stages[i].Body)
	}
	return total
}

// ContentField names the field that says what a recipe keeps in memory.
func (r *Recipe) ContentField() string {
	if given := r.sources(); len(given) > 0 && r.RandomContent == nil {
		return given[0]
	}
	return "stages"
}

// CheckBodies refuses recipes whose bodies are too large together. It gives the
// index of the one that is too much, and an error that names its field.
func (l List) CheckBodies() (i int, err error) {
	var total int64
	for i := range l {
		if total += l[i].BodySize(); total > LargestContents {
			return i, in(l[i].ContentField(), ErrContents)
		}
	}
	return 0, nil
}
