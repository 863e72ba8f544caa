// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// link is what requests have come over.
type link struct {
	sub  broker.Subscription
	dead atomic.Bool

	mu     sync.Mutex // guards what follows
	asleep map[*request]*time.Timer
}

// sleep has a request wake after a while, unless the link dies before.
func (l *link) sleep(r *request, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asleep == nil {
		r.guarded(func() { r.finish(returned) })
		return
	}
	r.p.asleep.Inc()
	l.asleep[r] = time.AfterFunc(d, func() {
		l.mu.Lock()
		delete(l.asleep, r)
		l.mu.Unlock()
		r.p.asleep.Dec()
		r.guarded(r.wake)
	})
}

// die has nothing come over the link any more: what sleeps goes back to the broker.
func (l *link) die() {
	l.dead.Store(true)
	l.mu.Lock()
	left := l.asleep
	l.asleep = nil
	l.mu.Unlock()
	for r, timer := range left {
		if timer.Stop() {
			r.p.asleep.Dec()
			r.finish(returned)
		}
	}
}
