// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import "sync"

// turn lets one goroutine at a time take the next request. When it is free
// again the one that came last has it, so that no more connections are in use
// than it takes and those in use don't idle for long.
type turn struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan struct{}
}

// take waits for the turn. The channel is the caller's own, with room for one.
func (t *turn) take(wake chan struct{}) {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return
	}
	t.waiting = append(t.waiting, wake)
	t.mu.Unlock()
	<-wake
}

// give passes the turn on. If no one is waiting for it, idle is called before
// anyone else can take it.
func (t *turn) give(idle func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.waiting)
	if n == 0 {
		t.taken = false
		idle()
		return
	}
	wake := t.waiting[n-1]
	t.waiting = t.waiting[:n-1]
	wake <- struct{}{}
}
