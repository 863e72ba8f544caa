// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package metrics registers collectors that outlive a configuration, and thins
// out what repeats itself in logs.
//
// Caddy makes a new registry for every load. A package keeps its vectors as
// variables, so that they count on, and registers them again on every load.
package metrics

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Register adds the collectors to a load's registry. That another handler of
// the same configuration has done so already is no error; that some other
// collector took the name is.
func Register(registry *prometheus.Registry, collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		err := registry.Register(c)
		if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok && already.ExistingCollector == c {
			continue
		}
		if err != nil {
			return fmt.Errorf("registering metrics: %v", err)
		}
	}
	return nil
}

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
