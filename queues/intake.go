// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// intake receives the requests of one address, has a service decide on each, and
// settles it when its answer is confirmed. Between these a request is a timer.
type intake struct {
	address  string
	broker   string
	protocol broker.Protocol
	players  []*player
	station  *station
	release  func() // of the station
	credit   int
	grace    time.Duration
	logger   atomic.Pointer[zap.Logger]
	thinned  *metrics.Throttle
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

// ending are the intakes that have been replaced or stopped, while their requests
// sleep.
var ending sync.WaitGroup

func (in *intake) log() *zap.Logger { return in.logger.Load() }

// begin connects, and goes on until Destruct.
func (in *intake) begin() {
	in.ctx, in.cancel = context.WithCancel(context.Background())
	in.idle = make(chan struct{})
	in.thinned = metrics.NewThrottle(time.Second)
	in.running.Go(in.receive)
}

// Destruct lets no more requests come, and in the background lets those that sleep
// be answered for a while.
func (in *intake) Destruct() error {
	in.mu.Lock()
	in.stopping = true
	link, pending := in.link, in.pending
	if pending == 0 {
		close(in.idle)
	}
	in.mu.Unlock()
	if link != nil {
		link.sub.Pause()
	}
	if pending > 0 {
		in.log().Info("requests that sleep are still answered", zap.String("broker", in.broker), zap.String("address", in.address),
			zap.Int("requests", pending), zap.Duration("grace_period", in.grace))
	}
	ending.Go(func() {
		timer := time.NewTimer(in.grace)
		defer timer.Stop()
		select {
		case <-in.idle:
		case <-timer.C:
			in.mu.Lock()
			left := in.pending
			in.mu.Unlock()
			in.log().Warn("requests go back to the broker: the grace period is over", zap.String("broker", in.broker),
				zap.String("address", in.address), zap.Int("requests", left))
		}
		in.cancel()
		in.running.Wait()
		for _, p := range in.players {
			p.end()
		}
		in.release()
	})
	return nil
}

// deliver takes a request: it is matched now, and answered when its time has come.
func (in *intake) deliver(l *link, sub broker.Subscription, d *broker.Delivery) {
	in.mu.Lock()
	if in.stopping || l.dead.Load() {
		in.mu.Unlock()
		in.players[0].count(returned)
		return // it goes back when the subscription is closed
	}
	in.pending++
	in.mu.Unlock()
	arrived := time.Now()
	r := &request{in: in, link: l, sub: sub, d: d, p: in.players[0]}
	err := r.choose()
	if d.Redelivered {
		r.p.again.Inc()
	}
	if err != nil {
		result := unmatched
		if !errors.Is(err, errUnmatched) {
			result = failed
			r.warn("cannot decide on a request", err)
		}
		r.dispose(r.p.Unmatched, result, err)
		return
	}
	r.p.latency.Observe(r.said.wait.Seconds())
	wait := r.said.wait - time.Since(arrived)
	if wait <= 0 {
		r.wake()
		return
	}
	l.sleep(r, wait)
}
