// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package replaycmd

import "testing"

// TestFindsInTwentyRuns finds the true difference in each of 20 runs with other
// seeds, and one within noise in 18. What is no difference is taken for one at
// most once.
func TestFindsInTwentyRuns(t *testing.T) {
	found, falseAlarms := 0, 0
	for seed := range uint64(20) {
		if findPrice(t, 100+seed) {
			falseAlarms++
		}
		if findStock(t, 200+seed) {
			found++
		}
	}
	t.Logf("the change within noise was found in %d of 20 runs; %d false alarms", found, falseAlarms)
	if falseAlarms > 1 {
		t.Errorf("%d false alarms in 20 runs", falseAlarms)
	}
	if found < 18 {
		t.Errorf("the change within noise was found in %d of 20 runs", found)
	}
}
