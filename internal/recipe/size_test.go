// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recipe

import "testing"

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0b": 0, "16b": 16, "1kb": 1024, "428KB": 428 << 10, "2Mb": 2 << 20, "64KiB": 64 << 10, "1gb": 1 << 30,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s, which is %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "b", "kb", "5", "-5kb", "+5kb", "1.5kb", "5 kb", "5tb", "65gb", "99999999999999999999b", "9223372036854775807kb"} {
		if size, err := ParseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, size)
		}
	}
}

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
