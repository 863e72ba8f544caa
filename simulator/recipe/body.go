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

// FillBody replaces the holes of a body with what fill gives for their sizes.
func FillBody(body string, fill func(size int64) []byte) []byte {
	return hole.ReplaceAllFunc([]byte(body), func(match []byte) []byte {
		size, _ := ParseSize(string(match[2 : len(match)-2]))
		return fill(int64(size))
	})
}

// checkBody refuses holes without a size and what becomes too large.
func checkBody(body string) error {
	total := int64(len(body))
	for _, match := range hole.FindAllString(body, -1) {
		size, err := ParseSize(match[2 : len(match)-2])
		if err != nil {
			return fmt.Errorf("in %s: %v", match, err)
		}
		total += int64(size)
	}
	if total > LargestBody {
		return fmt.Errorf("too large: %d bytes, at most %d; random_content can be larger", total, LargestBody)
	}
	return nil
}
