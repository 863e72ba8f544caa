// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package replaycmd

import "testing"

// TestFindsInTwentyRuns finds the true difference in each of 20 runs with other
// seeds, and one within noise in 18.
func TestFindsInTwentyRuns(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		findPrice(t, 100+seed)
		if findStock(t, 200+seed) {
			found++
		}
	}
	if found < 18 {
		t.Errorf("the change within noise was found in %d of 20 runs", found)
	}
}
