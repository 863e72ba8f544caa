// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"runtime/debug"
	"testing"
)

func TestGarbageIsCollectedByWhatIsInUse(t *testing.T) {
	for live, want := range map[uint64]int{0: 300, 10 << 20: 300, 24 << 20: 200, 48 << 20: 100, 1 << 30: 50} {
		if got := perGC(live); got != want {
			t.Errorf("%d bytes in use: got %d %%, want %d %%", live, got, want)
		}
	}
	before := debug.SetGCPercent(123)
	defer debug.SetGCPercent(before)
	collectSeldom()()
	if got := debug.SetGCPercent(123); got != 123 {
		t.Errorf("afterwards it is %d %%", got)
	}
}
