// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"
)

// TestCounts holds that every answer is counted, whatever became of its route.
func TestCounts(t *testing.T) {
	s := play(t, `[{"route":"/a","stages":[{"status":503}]},{"route":"/b","stages":[{}]}]`)
	for range 3 {
		ask(t, s, "/a")
	}
	ask(t, s, "/b")
	s.NotSet("/c", "")
	if err := s.Add(t.Context(), parse(t, `{"route":"/a","stages":[{"status":200}]}`)); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "/a")
	all, byRoute := s.Counted()
	if all.Total() != 6 || all[503] != 3 || all[200] != 2 || all[406] != 1 {
		t.Errorf("got %v", all)
	}
	if byRoute["/a"].Total() != 4 || byRoute["/b"].Total() != 1 || len(byRoute) != 2 {
		t.Errorf("got %v", byRoute)
	}
	s.Forget()
	if all, byRoute := s.Counted(); all.Total() != 6 || len(byRoute) != 0 {
		t.Errorf("after forgetting: got %v, %v", all, byRoute)
	}
	s.ClearCounts()
	if all, _ := s.Counted(); all.Total() != 0 || len(all) != 0 {
		t.Errorf("after clearing: got %v", all)
	}
}
