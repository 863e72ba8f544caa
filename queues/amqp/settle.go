// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

const (
	// creditPause is how long credit waits for more of it. Brokers look at their queue
	// for each flow, which takes RabbitMQ as long as a message does.
	creditPause = 5 * time.Millisecond

	// creditShare is the part of the credit that does not wait.
	creditShare = 10
)

// Settle implements broker.Subscription.
func (s *subscription) Settle(d *broker.Delivery, how broker.Settlement, done func(error)) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.queue = append(s.queue, settling{native(d), how, done})
	}
	s.mu.Unlock()
	if closed {
		done(broker.ErrLost)
		return
	}
	rouse(s.wake)
}

// rouse has who waits on a channel with room for one go on, now or as soon as it waits.
func rouse(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (s *subscription) take() (queue []settling, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, s.queue = s.queue, nil
	return queue, s.closed
}

// settle sends what became of requests, one after the other, and asks for as many
// new ones, until the link is lost or the subscription closed.
func (s *subscription) settle(ctx context.Context) {
	defer close(s.settled)
	if err := broker.Guarded(func() { s.settleAll(ctx) }); err != nil {
		s.end(err)
	}
	s.mu.Lock()
	s.closed = true
	left := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, next := range left {
		next.done(broker.ErrLost)
	}
}

func (s *subscription) settleAll(ctx context.Context) {
	owed := 0 // credit that the broker has not been given again
	timer := time.NewTimer(creditPause)
	defer timer.Stop()
	for {
		batch, closed := s.take()
		for _, next := range batch {
			err := s.settleOne(ctx, next)
			if err == nil {
				owed++
			}
			if owed*creditShare >= s.credit {
				s.issue(&owed)
			}
			next.done(err)
		}
		if closed {
			return
		}
		if owed > 0 && len(batch) > 0 {
			timer.Reset(creditPause)
		}
		select {
		case <-s.wake:
		case <-timer.C:
			s.issue(&owed)
		case <-s.done:
			return
		}
	}
}

// issue gives the broker credit, unless no more is to come.
func (s *subscription) issue(owed *int) {
	if *owed > 0 && !s.paused.Load() {
		_ = s.receiver.IssueCredit(uint32(*owed)) //nolint:gosec // at most the credit; refused only while pausing
	}
	*owed = 0
}

// settleOne sends what became of a request. The connection bounds how long it takes to
// write that, and is lost then.
func (s *subscription) settleOne(ctx context.Context, next settling) error {
	if next.how == broker.Reject {
		return s.receiver.RejectMessage(ctx, next.message, nil)
	}
	return s.receiver.AcceptMessage(ctx, next.message)
}
