// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestViews holds where routes are, and what was counted for them.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `[{"route":"/b","stages":[{"latency":"70ms"},{"at":"4s","status":503,"latency":"2m"}]},{"route":"/a","stages":[{"at":"1h"}]}]`)
		ask(t, s, "/b")
		time.Sleep(5 * time.Second)
		ask(t, s, "/b")
		ask(t, s, "/b")
		views := s.Views()
		if len(views) != 2 || views[0].Recipe.Route != "/a" || views[0].Stage != 0 || views[0].Elapsed != 5*time.Second {
			t.Fatalf("got %+v", views)
		}
		b := views[1]
		if b.Stage != 2 || b.Counts[200] != 1 || b.Counts[503] != 2 {
			t.Errorf("got %+v", b)
		}
		bounds := LatencyBounds()
		if at := slices.Index(bounds, .1); b.Latencies()[at] != 1 || b.Latencies()[len(bounds)] != 2 {
			t.Errorf("got %v", b.Latencies())
		}
	})
}

// TestRewind holds that every clock starts again, and that nothing else does.
func TestRewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `[{"route":"/a","stages":[{},{"at":"4s","status":503}]},{"route":"/b","origin":"http://127.0.0.1:1/","stages":[{}]}]`)
		s.table.Load().get("/b").supply(textContent("fetched", &s.Recipes()[1]))
		time.Sleep(5 * time.Second)
		if got := ask(t, s, "/a").Status; got != 503 {
			t.Errorf("before: got %d", got)
		}
		if err := s.Rewind(); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s, "/a").Status; got != 200 {
			t.Errorf("after: got %d", got)
		}
		if got := bodyOf(ask(t, s, "/b")); got != "fetched" {
			t.Errorf("the origin's content became %q", got)
		}
		if all, _ := s.Counted(); all.Total() != 3 {
			t.Errorf("counts became %v", all)
		}
	})
}
