// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import "testing"

func TestFillBody(t *testing.T) {
	if err := checkBody("1 << 2 >> 3 <<>>"); err != nil {
		t.Errorf("what is no hole was taken for one: %v", err)
	}
	var sizes []int64
	got := FillBody("a<<3b>>b<<1KB>> << c >>", func(size int64) []byte {
		sizes = append(sizes, size)
		return []byte("-")
	})
	if string(got) != "a-b- << c >>" || len(sizes) != 2 || sizes[0] != 3 || sizes[1] != 1024 {
		t.Errorf("got %q, holes of %v", got, sizes)
	}
}
