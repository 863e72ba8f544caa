// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestStagesFollowTheClock holds what is in force at and around each moment.
func TestStagesFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"body":"x","stages":[
			{"at":"2s","status":500,"latency":"3s"},{"at":"4s","status":404},{"at":"1h","status":201}]}`)
		begin := time.Now()
		for _, tc := range []struct {
			after   time.Duration
			stage   int
			status  int
			latency time.Duration
		}{
			{0, 0, 200, 0},
			{2*time.Second - 1, 0, 200, 0},
			{2 * time.Second, 1, 500, 3 * time.Second},
			{4*time.Second - 1, 1, 500, 3 * time.Second},
			{4 * time.Second, 2, 404, 0},
			{time.Hour - 1, 2, 404, 0},
			{time.Hour, 3, 201, 0},
			{1000 * time.Hour, 3, 201, 0},
		} {
			time.Sleep(time.Until(begin.Add(tc.after)))
			a := ask(t, s, "/")
			if a.Stage != tc.stage || a.Status != tc.status || a.Latency != tc.latency {
				t.Errorf("after %v: got stage %d, %d, %v", tc.after, a.Stage, a.Status, a.Latency)
			}
			status := s.Status()[0]
			if status.Stage != tc.stage || status.Outcomes[0].Status != tc.status {
				t.Errorf("after %v: status tells of stage %d, %d", tc.after, status.Stage, status.Outcomes[0].Status)
			}
		}
	})
}

// TestPostedRecipeStartsItsOwnClock holds that others are left alone.
func TestPostedRecipeStartsItsOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `[{"route":"/a","stages":[{},{"at":"5s","status":503}]},{"route":"/b","stages":[{},{"at":"5s","status":503}]}]`)
		time.Sleep(6 * time.Second)
		if err := s.Add(t.Context(), parse(t, `{"route":"/a","stages":[{"status":201},{"at":"5s","status":404}]}`)); err != nil {
			t.Fatal(err)
		}
		if a, b := ask(t, s, "/a"), ask(t, s, "/b"); a.Status != 201 || b.Status != 503 {
			t.Errorf("got %d and %d", a.Status, b.Status)
		}
		time.Sleep(5 * time.Second)
		if a := ask(t, s, "/a"); a.Status != 404 {
			t.Errorf("got %d", a.Status)
		}
		if err := s.Restart(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if a := ask(t, s, "/a"); a.Status != 200 || a.Stage != 1 {
			t.Errorf("after a restart: got %d", a.Status)
		}
	})
}
