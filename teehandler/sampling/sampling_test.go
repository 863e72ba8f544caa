// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package sampling

import (
	"math"
	"strconv"
	"testing"
)

func TestNextTakesItsShareOfEveryStretch(t *testing.T) {
	for _, percent := range []float64{0.1, 1, 10, 12.5, 33.3, 50, 75, 99.9} {
		s := NewShare(percent)
		taken := 0
		for n := 1; n <= 100_000; n++ {
			if s.Next() {
				taken++
			}
			if want := percent / 100 * float64(n); math.Abs(float64(taken)-want) > 4 {
				t.Fatalf("%v%%: took %d of the first %d, want %.1f", percent, taken, n, want)
			}
		}
	}
}

func TestNextFollowsNoShortPeriod(t *testing.T) {
	const period = 10
	s := NewShare(10)
	var taken [period]int
	for n := range 100_000 {
		if s.Next() {
			taken[n%period]++
		}
	}
	for i, n := range taken {
		if n < 900 || n > 1100 {
			t.Errorf("request %d of every %d was taken %d times, want about 1000", i, period, n)
		}
	}
}

func TestEdges(t *testing.T) {
	none, all := NewShare(0), NewShare(100)
	for n := range 10_000 {
		key := strconv.Itoa(n)
		if none.Next() || none.Key(key) {
			t.Fatal("0% took something")
		}
		if !all.Next() || !all.Key(key) {
			t.Fatal("100% left something out")
		}
	}
}

func TestKeyIsStickyAndGrows(t *testing.T) {
	small, large := NewShare(10), NewShare(25)
	again := NewShare(10)
	taken := 0
	for n := range 100_000 {
		key := "session-" + strconv.Itoa(n)
		in := small.Key(key)
		if in {
			taken++
		}
		if again.Key(key) != in {
			t.Fatalf("%s is decided differently the second time", key)
		}
		if in && !large.Key(key) {
			t.Fatalf("%s is in 10%% but not in 25%%", key)
		}
	}
	if taken < 9_700 || taken > 10_300 {
		t.Errorf("10%% took %d of 100000 keys", taken)
	}
}

func BenchmarkNext(b *testing.B) {
	s := NewShare(10)
	for b.Loop() {
		s.Next()
	}
}
