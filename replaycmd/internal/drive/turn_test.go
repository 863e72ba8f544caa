// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLastToComeHasTheNextTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turn turn
		var order []int
		turn.take(make(chan struct{}, 1))
		for i := range 4 {
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				turn.take(make(chan struct{}, 1))
				order = append(order, i)
				turn.give(func() { order = append(order, -1) })
			}()
		}
		time.Sleep(time.Minute)
		turn.give(func() { t.Error("no one was waiting") })
		synctest.Wait()
		if want := []int{3, 2, 1, 0, -1}; !slices.Equal(order, want) {
			t.Errorf("got order %v, want %v", order, want)
		}
	})
}
