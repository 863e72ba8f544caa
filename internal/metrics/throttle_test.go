// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := NewThrottle(time.Minute)
		allowed := 0
		for range 300 { // five minutes
			if held, ok := throttle.Allow(); ok {
				if allowed > 0 && held != 59 {
					t.Errorf("%d were held back, want 59", held)
				}
				allowed++
			}
			time.Sleep(time.Second)
		}
		if allowed != 5 {
			t.Errorf("%d were let through in five minutes, want 5", allowed)
		}
	})
}
