// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync/atomic"
	"time"
)

// Throttle lets one log entry through per interval and counts the others. Its
// methods may be called from several goroutines at once.
type Throttle struct {
	interval int64
	start    time.Time
	next     atomic.Int64 // nanoseconds since start
	held     atomic.Int64
}

// NewThrottle returns a throttle whose first entry goes through.
func NewThrottle(interval time.Duration) *Throttle {
	return &Throttle{interval: int64(interval), start: time.Now()}
}

// Allow reports whether to log now and, if so, how many entries were held back
// since the last one.
func (t *Throttle) Allow() (held int64, ok bool) {
	now, next := int64(time.Since(t.start)), t.next.Load()
	if now < next || !t.next.CompareAndSwap(next, now+t.interval) {
		t.held.Add(1)
		return 0, false
	}
	return t.held.Swap(0), true
}
