// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The race detector takes half a minute for what one goroutine computes here.
//go:build !race

package eval

import (
	"strings"
	"testing"
)

// TestBudget holds that neither nested places nor what they contain are
// multiplied, and that the end of a budget is noticed.
func TestBudget(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 950) + `{"b":"` + strings.Repeat("x", 10_000) + `"}` + strings.Repeat("}", 950)
	document, _ := ParseJSON(nested)
	for _, tc := range []struct {
		path     string
		exceeded bool
	}{
		{"$..b", false}, {"$..a", false}, {"$..a..b", false}, {"$..a..a", true}, {"$..[?(@..a == 'x')]", true}, {"$..a[?(@..a..a)]", true},
	} {
		path, err := CompilePath(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBudget(len(nested))
		path.Get(document, &b)
		if b.Exceeded() != tc.exceeded {
			t.Errorf("%s: %d steps are left", tc.path, b.left)
		}
	}
	path, _ := CompilePath("$..a")
	found, _ := path.Get(document, budget())
	b := NewBudget(len(nested))
	for _, write := range []func([]byte, any, *Budget) []byte{AppendJSON, AppendIndented} {
		b := b
		if out := write(nil, found, &b); !b.Exceeded() || len(out) > 2*(PerByte*len(nested)+BaseBudget) {
			t.Errorf("wrote %d bytes", len(out))
		}
	}
}
