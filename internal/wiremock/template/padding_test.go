// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "testing"

// What is no UTF-8 may become some where it is repeated: the last byte and the first
// of the next are a character together.
func TestPadding(t *testing.T) {
	for _, tc := range []struct {
		with string
		n    int
		want string
	}{{"ab", 5, "ababa"}, {"é", 2, "éé"}, {"x", 0, ""}, {"\x94\x15\xcc", 4, "\uFFFD\x15\uFFFD\uFFFD"}} {
		if got := padding(tc.with, tc.n); got != tc.want {
			t.Errorf("%q, %d: got %q, want %q", tc.with, tc.n, got, tc.want)
		}
	}
}
