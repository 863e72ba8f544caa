// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestRestartLeavesNoGap holds that every request finds a recipe while the
// scenario restarts, and that recipes posted meanwhile keep none away.
func TestRestartLeavesNoGap(t *testing.T) {
	s := play(t, `{"route":"/a","stages":[{}]}`)
	posted := parse(t, `{"route":"/b","stages":[{}]}`)
	var done atomic.Bool
	var others sync.WaitGroup
	others.Go(func() {
		for !done.Load() {
			if _, found := s.Decide(Request{Path: "/a"}); !found {
				t.Error("there was no recipe")
				return
			}
		}
	})
	others.Go(func() {
		for !done.Load() {
			if err := s.Add(t.Context(), posted); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2000 {
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		if _, found := s.Decide(Request{Path: "/a"}); !found {
			t.Fatal("the recipe of the configuration has not returned")
		}
	}
	done.Store(true)
	others.Wait()
}
