// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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
		if err := s.Restart(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, found := s.Decide(Request{Path: "/a"}); !found {
			t.Fatal("the recipe of the configuration has not returned")
		}
	}
	done.Store(true)
	others.Wait()
}

// TestRestartAtATime has three scenarios that began at different moments restart at
// one: they change their stages together, also that which has a start of its own.
func TestRestartAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stages := `"stages":[{"at":0,"status":200},{"at":"10s","status":500},{"at":"20s","status":201}]}`
		var all []*Scenario
		for _, head := range []string{`{`, `{`, `{"start":"2020-01-01T00:00:00Z",`} {
			all = append(all, play(t, head+stages))
			time.Sleep(7 * time.Second)
		}
		at := time.Now().Add(5 * time.Second)
		for _, s := range all {
			if err := s.Restart(at); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for _, tc := range []struct {
			after  time.Duration
			status int
		}{{-time.Millisecond, 200}, {0, 200}, {10*time.Second - time.Millisecond, 200}, {10 * time.Second, 500}, {20 * time.Second, 201}} {
			time.Sleep(time.Until(at.Add(tc.after)))
			for i, s := range all {
				if got, _ := s.Decide(Request{Path: "/"}); got.Message.Status != tc.status {
					t.Errorf("scenario %d answers %d %v after the restart, want %d", i, got.Message.Status, tc.after, tc.status)
				}
			}
		}
	})
}
