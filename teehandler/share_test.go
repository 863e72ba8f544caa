// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"math"
	"strconv"
	"testing"
)

func TestNextTakesItsShareOfEveryStretch(t *testing.T) {
	for _, percent := range []float64{0.1, 1, 10, 12.5, 33.3, 50, 75, 99.9} {
		s := newShare(percent)
		taken := 0
		for n := 1; n <= 100_000; n++ {
			if s.next() {
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
	s := newShare(10)
	var taken [period]int
	for n := range 100_000 {
		if s.next() {
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
	none, all := newShare(0), newShare(100)
	for n := range 10_000 {
		key := strconv.Itoa(n)
		if none.next() || none.key(key) {
			t.Fatal("0% took something")
		}
		if !all.next() || !all.key(key) {
			t.Fatal("100% left something out")
		}
	}
}

func TestKeyIsStickyAndGrows(t *testing.T) {
	small, large := newShare(10), newShare(25)
	again := newShare(10)
	taken := 0
	for n := range 100_000 {
		key := "session-" + strconv.Itoa(n)
		in := small.key(key)
		if in {
			taken++
		}
		if again.key(key) != in {
			t.Fatalf("%s is decided differently the second time", key)
		}
		if in && !large.key(key) {
			t.Fatalf("%s is in 10%% but not in 25%%", key)
		}
	}
	if taken < 9_700 || taken > 10_300 {
		t.Errorf("10%% took %d of 100000 keys", taken)
	}
}

func BenchmarkNext(b *testing.B) {
	s := newShare(10)
	for b.Loop() {
		s.next()
	}
}
