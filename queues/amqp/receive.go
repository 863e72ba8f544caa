// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// subscription is a receiver in a session of its own.
type subscription struct {
	receiver *amqp.Receiver
	paused   atomic.Bool
	drains   bool // the broker bears to be asked to use up its credit
	settling chan settling
	done     chan struct{}
	once     sync.Once
	err      error
}

// settling is what became of a request, on its way.
type settling struct {
	message *amqp.Message
	how     broker.Settlement
	done    func(error)
}

// Receive implements broker.Conn.
func (c *conn) Receive(ctx context.Context, source broker.Source) (broker.Subscription, error) {
	session, err := c.NewSession(ctx, nil)
	if err != nil {
		return nil, err
	}
	options := &amqp.ReceiverOptions{Credit: -1}
	if c.b.Capability != "" {
		options.SourceCapabilities = []string{c.b.Capability}
	}
	receiver, err := session.NewReceiver(ctx, source.Address, options)
	if err != nil {
		return nil, err
	}
	if err := receiver.IssueCredit(uint32(source.Credit)); err != nil { //nolint:gosec // at most a million
		return nil, err
	}
	product, _ := c.Properties()["product"].(string)
	drains := product != "RabbitMQ" // whose version 3 ends the session with an internal error
	s := &subscription{receiver: receiver, drains: drains, settling: make(chan settling, source.Credit), done: make(chan struct{})}
	go func() { s.end(s.receive(c.ctx, source)) }()
	go s.settle(c.ctx)
	return s, nil
}

func (s *subscription) end(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.done)
	})
}

// receive delivers what comes until the link is lost.
func (s *subscription) receive(ctx context.Context, source broker.Source) (err error) {
	panicked := broker.Guarded(func() {
		for {
			var m *amqp.Message
			if m, err = s.receiver.Receive(ctx, nil); err != nil {
				return
			}
			if s.paused.Load() {
				if err = s.release(ctx, m); err != nil {
					return
				}
				continue
			}
			source.Deliver(deliveryOf(source.Address, m))
		}
	})
	if panicked != nil {
		return panicked
	}
	return err
}

// settlingTime is how long it may take to write what became of a request.
const settlingTime = 30 * time.Second

// settle sends what became of requests, one after the other, and asks for as many
// new ones.
func (s *subscription) settle(ctx context.Context) {
	err := broker.Guarded(func() {
		for {
			select {
			case next := <-s.settling:
				next.done(s.settleOne(ctx, next))
			case <-s.done:
				for { // what is left is lost
					select {
					case next := <-s.settling:
						next.done(broker.ErrLost)
					default:
						return
					}
				}
			}
		}
	})
	s.end(err)
}

func (s *subscription) settleOne(ctx context.Context, next settling) (err error) {
	ctx, cancel := context.WithTimeout(ctx, settlingTime)
	defer cancel()
	if next.how == broker.Reject {
		err = s.receiver.RejectMessage(ctx, next.message, nil)
	} else {
		err = s.receiver.AcceptMessage(ctx, next.message)
	}
	if err == nil && !s.paused.Load() {
		_ = s.receiver.IssueCredit(1) // refused only while pausing
	}
	return err
}

// Settle implements broker.Subscription.
func (s *subscription) Settle(d *broker.Delivery, how broker.Settlement, done func(error)) {
	select {
	case <-s.done:
	default:
		select {
		case s.settling <- settling{d.Native.(*amqp.Message), how, done}: // has a place for each request that can be in hand
			return
		case <-s.done:
		}
	}
	done(broker.ErrLost)
}

// release returns a request to the broker that came while pausing. As it gets no credit for
// that, the broker stops when what it had is used up.
func (s *subscription) release(ctx context.Context, m *amqp.Message) error {
	ctx, cancel := context.WithTimeout(ctx, settlingTime)
	defer cancel()
	return s.receiver.ReleaseMessage(ctx, m)
}

// Pause implements broker.Subscription.
func (s *subscription) Pause() {
	if s.paused.Swap(true) || !s.drains {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), settlingTime)
		defer cancel()
		_ = broker.Guarded(func() { _ = s.receiver.DrainCredit(ctx, nil) }) // what comes nevertheless goes back
	}()
}

// Done implements broker.Subscription.
func (s *subscription) Done() <-chan struct{} { return s.done }

// Err implements broker.Subscription.
func (s *subscription) Err() error { return s.err }
