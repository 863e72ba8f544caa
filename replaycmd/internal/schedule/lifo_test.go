// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLastToComeHasTheLockNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lifo
		var order []int
		if !l.lock(make(chan struct{}, 1)) {
			t.Error("the lock was not free")
		}
		for i := range 4 {
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				if l.lock(make(chan struct{}, 1)) {
					t.Error("the lock was free")
				}
				order = append(order, i)
				l.unlock(func() { order = append(order, -1) })
			}()
		}
		time.Sleep(time.Minute)
		l.unlock(func() { t.Error("no one was waiting") })
		synctest.Wait()
		if want := []int{3, 2, 1, 0, -1}; !slices.Equal(order, want) {
			t.Errorf("got order %v, want %v", order, want)
		}
	})
}
