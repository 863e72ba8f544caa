// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import (
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// hole is a place in a body that becomes random text.
var hole = regexp.MustCompile(`<<[^<>\s]+>>`)

// LargestBody is the most bytes that a body may have, its holes filled.
const LargestBody = 64 << 20

// LargestSize is the most bytes that one recipe, and all recipes of a scenario
// together, may take of the memory.
const LargestSize = 512 << 20

// ErrTooLarge is the error of recipes that would take more.
var ErrTooLarge = fmt.Errorf("all recipes together take more than %d bytes; random_content takes none", LargestSize)

// FillBody replaces the holes of a body with what fill returns for their sizes.
func FillBody(body string, fill func(size int64) []byte) []byte {
	return hole.ReplaceAllFunc([]byte(body), func(match []byte) []byte {
		size, _ := units.ParseBinarySize(string(match[2 : len(match)-2]))
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

// sizeOf returns the size of a body in bytes, its holes filled.
func sizeOf(body string) (int64, error) {
	total := int64(len(body))
	for _, match := range hole.FindAllString(body, -1) {
		size, err := units.ParseBinarySize(match[2 : len(match)-2])
		if err != nil {
			return 0, fmt.Errorf("in %s: %v", match, err)
		}
		total += int64(size) - int64(len(match))
	}
	return total, nil
}

// What an outcome and a header field take besides their texts, in bytes.
const (
	outcomeOverhead = 512
	fieldOverhead   = 128
)

// Size returns how many bytes of memory a recipe that was checked takes without
// what is fetched or read for it: its text, its bodies with their holes filled,
// and its header fields once for each outcome.
func (r *Recipe) Size() int64 {
	total, headers := int64(len(r.written)), r.Headers.size()
	if r.Body != nil {
		size, _ := sizeOf(*r.Body)
		total += size
	}
	for i := range r.Stages {
		for j := range r.Stages[i].Outcomes {
			outcome := &r.Stages[i].Outcomes[j]
			total += outcomeOverhead + headers + outcome.Headers.size()
			if outcome.Body != nil {
				size, _ := sizeOf(*outcome.Body)
				total += size
			}
		}
	}
	return total
}

// BodyFiles returns the files that a recipe serves, each with the path of the
// field that names it.
func (r *Recipe) BodyFiles() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		if r.BodyFile != "" && !yield("body_file", r.BodyFile) {
			return
		}
		for i := range r.Stages {
			for j := range r.Stages[i].Outcomes {
				if name := r.Stages[i].Outcomes[j].BodyFile; name != "" && !yield(r.OutcomeField(i, j, "body_file"), name) {
					return
				}
			}
		}
	}
}

// OutcomeField returns the path of a field of an outcome, like
// `stages[1].outcomes[0].body_file`.
func (r *Recipe) OutcomeField(stage, outcome int, name string) string {
	return join("stages"+index(stage), join(r.Stages[stage].place(outcome), name))
}

// LargestField returns the name of the field that makes most of a recipe's size.
func (r *Recipe) LargestField() string {
	outcomes := 0
	for i := range r.Stages {
		outcomes += len(r.Stages[i].Outcomes)
	}
	if r.Headers.size()*int64(outcomes) > r.Size()/2 {
		return "headers"
	}
	if given := r.sources(); len(given) > 0 && r.RandomContent == nil {
		return given[0]
	}
	return "stages"
}

// CheckSize refuses recipes that are too large together. It returns the index
// of the one that is too much, and an error that names its field.
func (l List) CheckSize() (i int, err error) {
	var total int64
	for i := range l {
		if total += l[i].Size(); total > LargestSize {
			return i, in(l[i].LargestField(), ErrTooLarge)
		}
	}
	return 0, nil
}

// SizeRange is a size or a range of sizes: `300kb..400kb`.
type SizeRange struct {
	Lower, Upper units.BinarySize
}

// ParseSizeRange reads a size or a range of sizes.
func ParseSizeRange(text string) (SizeRange, error) {
	lowerText, upperText, isRange := strings.Cut(text, "..")
	lower, err := units.ParseBinarySize(lowerText)
	if err != nil || !isRange {
		return SizeRange{lower, lower}, err
	}
	upper, err := units.ParseBinarySize(upperText)
	if err != nil {
		return SizeRange{}, err
	}
	if upper < lower {
		return SizeRange{}, fmt.Errorf("range '%s' is reversed", text)
	}
	return SizeRange{lower, upper}, nil
}

// String returns the text that ParseSizeRange reads as the same range.
func (r SizeRange) String() string {
	if r.Lower == r.Upper {
		return r.Lower.String()
	}
	return r.Lower.String() + ".." + r.Upper.String()
}

// MarshalText writes the range as text.
func (r SizeRange) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
