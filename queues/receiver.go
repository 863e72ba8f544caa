// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// receiver receives the requests of one address, has a service decide on each, and
// settles it when its answer is confirmed. Between these a request is a timer.
type receiver struct {
	address  string
	broker   string
	protocol broker.Protocol
	services []*service
	conns    *connections
	release  func() // of the connections
	credit   int
	grace    time.Duration
	logger   atomic.Pointer[zap.Logger]
	throttle *metrics.Throttle
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	up       atomic.Bool

	mu       sync.Mutex // guards what follows
	link     *link      // nil: there is none
	stopping bool
	pending  int           // requests that are neither settled nor lost, and late answers
	idle     chan struct{} // closed when stopping and nothing is pending
}

// ending counts the receivers that have been replaced or stopped, while their requests
// sleep.
var ending sync.WaitGroup

func (rc *receiver) log() *zap.Logger { return rc.logger.Load() }

// begin begins to receive, in the background and until Destruct.
func (rc *receiver) begin() {
	rc.ctx, rc.cancel = context.WithCancel(context.Background())
	rc.idle = make(chan struct{})
	rc.throttle = metrics.NewThrottle(time.Second)
	rc.running.Go(rc.receive)
}

// Destruct lets no more requests come, and in the background lets those that sleep
// be answered for a while.
func (rc *receiver) Destruct() error {
	rc.mu.Lock()
	rc.stopping = true
	link, pending := rc.link, rc.pending
	if pending == 0 {
		close(rc.idle)
	}
	rc.mu.Unlock()
	if link != nil {
		link.sub.Pause()
	}
	if pending > 0 {
		rc.log().Info("requests that sleep are still answered", zap.String("broker", rc.broker), zap.String("address", rc.address),
			zap.Int("requests", pending), zap.Duration("grace_period", rc.grace))
	}
	ending.Go(func() {
		timer := time.NewTimer(rc.grace)
		defer timer.Stop()
		select {
		case <-rc.idle:
		case <-timer.C:
			rc.mu.Lock()
			left := rc.pending
			rc.mu.Unlock()
			rc.log().Warn("requests go back to the broker: the grace period is over", zap.String("broker", rc.broker),
				zap.String("address", rc.address), zap.Int("requests", left))
		}
		rc.cancel()
		rc.running.Wait()
		rc.discard()
		rc.release()
	})
	return nil
}

// discard releases what the services have read.
func (rc *receiver) discard() {
	for _, svc := range rc.services {
		svc.end()
	}
}

// deliver takes a request: it is matched now, and answered when its time has come.
func (rc *receiver) deliver(l *link, sub broker.Subscription, d *broker.Delivery) {
	rc.mu.Lock()
	if rc.stopping || l.dead.Load() {
		rc.mu.Unlock()
		rc.services[0].count(returned)
		return // it goes back when the subscription is closed
	}
	rc.pending++
	rc.mu.Unlock()
	r := &request{receiver: rc, link: l, sub: sub, d: d, service: rc.services[0]}
	r.guarded(r.begin)
}

// link is what requests have come over, with those that sleep.
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
	r.service.asleep.Inc()
	l.asleep[r] = time.AfterFunc(d, func() {
		l.mu.Lock()
		delete(l.asleep, r)
		l.mu.Unlock()
		r.service.asleep.Dec()
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
			r.service.asleep.Dec()
			r.finish(returned)
		}
	}
}
