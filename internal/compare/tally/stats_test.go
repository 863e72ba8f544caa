// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9+1e-6*math.Abs(want) {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

func TestStats(t *testing.T) {
	near(t, "7 of 7", signTest(7, 7), 1.0/128)
	near(t, "8 of 10", signTest(8, 10), 56.0/1024)
	near(t, "half", signTest(5, 10), 1)
	near(t, "none", signTest(0, 0), 1)
	near(t, "a million", signTest(501_500, 1_000_000), 0.00135432765)
	near(t, "tea", fisher(3, 4, 1, 4), 17.0/70)
	near(t, "all against none", fisher(16, 16, 0, 16), 1/601080390.0)
	near(t, "none against none", fisher(0, 16, 0, 16), 1)
	near(t, "Benjamini-Hochberg", discoveries([]float64{0.5, 0.01, 0.009, 0.8}, 0.02), 0.01)
	near(t, "none found", discoveries([]float64{0.5, 0.02}, 0.01), -1)
	near(t, "of nothing", discoveries(nil, 0.01), -1)
	low, high := shareBounds(10, 100)
	near(t, "low", low, 0.0552291)
	near(t, "high", high, 0.1743657)
	if low, high := shareBounds(0, 0); low != 0 || high != 1 {
		t.Errorf("of nothing: %g to %g", low, high)
	}
	if low, high := ranks(100, 0.5); low != 40 || high != 60 {
		t.Errorf("median of 100: %d to %d", low, high)
	}
	if _, high := ranks(100, 0.99); high != 101 {
		t.Errorf("p99 of 100 has the bound %d", high)
	}
	if low, high := ranks(400, 0.99); low != 392 || high != 400 {
		t.Errorf("p99 of 400: %d to %d", low, high)
	}
}
