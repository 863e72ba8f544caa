// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// subscription is a receiver in a session of its own: what ends the session of one
// address ends that of no other, and what is not settled goes back with it.
type subscription struct {
	session  *amqp.Session
	receiver *amqp.Receiver
	credit   int
	paused   atomic.Bool
	drains   bool          // the broker bears to be asked to use up its credit
	wake     chan struct{} // there is something to settle, or the end of it
	settled  chan struct{} // closed when nothing is settled any more
	done     chan struct{}
	once     sync.Once
	err      error

	mu     sync.Mutex // guards what follows
	queue  []settling
	closed bool // no more is settled
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
	receiver, err := c.attach(ctx, session, source)
	if err != nil {
		closeSession(session)
		return nil, err
	}
	product, _ := c.Properties()["product"].(string)
	s := &subscription{
		session:  session,
		receiver: receiver,
		credit:   source.Credit,
		drains:   product != "RabbitMQ", // whose version 3 ends the session with an internal error
		wake:     make(chan struct{}, 1),
		settled:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	go func() { s.end(s.receive(c.ctx, source)) }()
	go s.settle(c.ctx)
	return s, nil
}

// attach makes the receiver, with all of its credit.
func (c *conn) attach(ctx context.Context, session *amqp.Session, source broker.Source) (*amqp.Receiver, error) {
	options := &amqp.ReceiverOptions{Credit: -1}
	if c.b.Capability != "" {
		options.SourceCapabilities = []string{c.b.Capability}
	}
	receiver, err := session.NewReceiver(ctx, source.Address, options)
	if err != nil {
		return nil, err
	}
	return receiver, receiver.IssueCredit(uint32(source.Credit)) //nolint:gosec // at most a million
}

// endTimeout is how long a broker may take to end a session.
const endTimeout = 2 * time.Second

func closeSession(session *amqp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	_ = session.Close(ctx) // what is wrong with it is no matter any more
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
			source.Deliver(s, deliveryOf(source.Address, m))
			runtime.Gosched() // or on one processor no answer leaves before all that has come is matched
		}
	})
	if panicked != nil {
		return panicked
	}
	return err
}

// release returns a request to the broker that came while pausing. As it gets no credit for
// that, the broker stops when what it had is used up.
func (s *subscription) release(ctx context.Context, m *amqp.Message) error {
	return s.receiver.ReleaseMessage(ctx, m)
}

// drainTimeout is how long a broker may take to use up its credit.
const drainTimeout = 30 * time.Second

// Pause implements broker.Subscription.
func (s *subscription) Pause() {
	if s.paused.Swap(true) || !s.drains {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		_ = broker.Guarded(func() { _ = s.receiver.DrainCredit(ctx, nil) }) // what comes nevertheless goes back
	}()
}

var errClosed = errors.New("the subscription was closed")

// Close implements broker.Subscription.
func (s *subscription) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	rouse(s.wake)
	<-s.settled
	closeSession(s.session)
	s.end(errClosed)
}

// Done implements broker.Subscription.
func (s *subscription) Done() <-chan struct{} { return s.done }

// Err implements broker.Subscription.
func (s *subscription) Err() error { return s.err }
