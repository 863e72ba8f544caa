// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import "sync"

// lifo is a lock that goes to whoever came last, so that no more connections are
// in use than it takes and those in use don't idle for long.
type lifo struct {
	mu      sync.Mutex
	locked  bool
	waiting []chan struct{}
}

// lock takes the lock and reports whether it was free. The channel is the
// caller's own, with a capacity of one.
func (l *lifo) lock(wake chan struct{}) (free bool) {
	l.mu.Lock()
	if !l.locked {
		l.locked = true
		l.mu.Unlock()
		return true
	}
	l.waiting = append(l.waiting, wake)
	l.mu.Unlock()
	<-wake
	return false
}

// unlock passes the lock on. If no one is waiting for it, idle is called before
// anyone else can take it.
func (l *lifo) unlock(idle func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.waiting)
	if n == 0 {
		l.locked = false
		idle()
		return
	}
	wake := l.waiting[n-1]
	l.waiting = l.waiting[:n-1]
	wake <- struct{}{}
}
