// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"sync/atomic"
	"time"
)

// throttle lets one log entry through per interval and counts the others.
type throttle struct {
	interval int64
	start    time.Time
	next     atomic.Int64 // nanoseconds since start
	held     atomic.Int64
}

func newThrottle(interval time.Duration) *throttle {
	return &throttle{interval: int64(interval), start: time.Now()}
}

// allow tells whether to log, and if so, how many entries were held back since
// the last one.
func (t *throttle) allow() (held int64, ok bool) {
	now, next := int64(time.Since(t.start)), t.next.Load()
	if now < next || !t.next.CompareAndSwap(next, now+t.interval) {
		t.held.Add(1)
		return 0, false
	}
	return t.held.Swap(0), true
}
