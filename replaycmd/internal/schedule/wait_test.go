// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitersAreNeverEarlyAndEndWithTheirContext(t *testing.T) {
	for name, w := range map[string]Waiter{"exact": NewWaiter(), "timer": NewTimerWaiter()} {
		for _, d := range []time.Duration{-time.Second, 0, 50 * time.Microsecond, 3 * time.Millisecond, 45 * time.Millisecond} {
			until := time.Now().Add(d)
			if err := w.Wait(t.Context(), until); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if early := time.Until(until); early > 0 {
				t.Errorf("%s: a wait of %v ended %v early", name, d, early)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		if err := w.Wait(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want the end of the context", name, err)
		}
		if err := w.Wait(ctx, time.Now()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v after the end of the context", name, err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("%s: closing: %v", name, err)
		}
	}
}

func TestTimerWaiterWaitsExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(90 * time.Minute)
		if err := NewTimerWaiter().Wait(t.Context(), until); err != nil || !time.Now().Equal(until) {
			t.Errorf("it is %v instead of %v, error %v", time.Now(), until, err)
		}
	})
}
