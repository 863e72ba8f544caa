// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// outlet is a link that messages are sent over, in a session of its own: what ends
// the session of one address ends that of no other.
type outlet struct {
	conn    *conn
	address string // empty: messages say where they go
	session *amqp.Session
	sender  *amqp.Sender
	wake    chan struct{}
	cancel  context.CancelFunc
	used    uint64 // when it was used last, for the connection

	mu       sync.Mutex // guards what follows
	queue    []sending
	underway int // sent and not yet confirmed, or in the queue
	closed   bool
}

// sending is a message on its way.
type sending struct {
	message *broker.Message
	done    func(error)
}

// mostOutlets is how many links are kept for addresses.
const mostOutlets = 256

// attaching is how long a link may take. A broker that says nothing about an address
// for so long has lost itself over it.
const attaching = 10 * time.Second

// Send implements broker.Conn.
func (c *conn) Send(m *broker.Message, done func(error)) {
	address := ""
	if c.b.SenderPerAddress {
		address = m.Address
	}
	for {
		if o := c.outlet(address); o.add(sending{m, done}) {
			return
		}
	}
}

// outlet returns the link for an address, which may just be made.
func (c *conn) outlet(address string) *outlet {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	o := c.outlets[address]
	if o == nil {
		if len(c.outlets) >= mostOutlets {
			c.closeOldest()
		}
		o = &outlet{conn: c, address: address, wake: make(chan struct{}, 1)}
		var ctx context.Context
		ctx, o.cancel = context.WithCancel(c.ctx)
		c.outlets[address] = o
		go o.run(ctx)
	}
	o.used = c.uses
	return o
}

// closeOldest closes the link that was not used for longest, if there is one that
// has nothing to do. The lock is held.
func (c *conn) closeOldest() {
	var oldest *outlet
	for _, o := range c.outlets {
		if (oldest == nil || o.used < oldest.used) && o.idle() {
			oldest = o
		}
	}
	if oldest != nil {
		delete(c.outlets, oldest.address)
		oldest.cancel()
	}
}

func (o *outlet) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.underway == 0
}

// add puts a message into the queue; false if the link is no more.
func (o *outlet) add(s sending) bool {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return false
	}
	o.queue = append(o.queue, s)
	o.underway++
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true
}

func (o *outlet) take() []sending {
	o.mu.Lock()
	defer o.mu.Unlock()
	queue := o.queue
	o.queue = nil
	return queue
}

func (o *outlet) settled(s sending, err error) {
	o.mu.Lock()
	o.underway--
	o.mu.Unlock()
	s.done(err)
}

// run attaches the link and sends until it is lost or closed.
func (o *outlet) run(ctx context.Context) {
	var err error
	panicked := broker.Guarded(func() {
		if err = o.attach(ctx); err == nil {
			err = o.send(ctx)
		}
	})
	if panicked != nil {
		err = panicked
	}
	o.cancel()
	o.conn.mu.Lock()
	if o.conn.outlets[o.address] == o {
		delete(o.conn.outlets, o.address)
	}
	o.conn.mu.Unlock()
	o.mu.Lock()
	o.closed = true
	left := o.queue
	o.queue = nil
	o.mu.Unlock()
	for _, s := range left {
		o.settled(s, err)
	}
	if o.session != nil {
		ctx, cancel := context.WithTimeout(context.Background(), attaching)
		defer cancel()
		_ = o.session.Close(ctx)
	}
}

// attach makes the session and the link. That the broker refuses the link or ends
// its session is about the address, as nothing else is in that.
func (o *outlet) attach(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, attaching)
	defer cancel()
	if o.session, err = o.conn.NewSession(ctx, nil); err != nil {
		return fmt.Errorf("%w: %w", broker.ErrLost, err)
	}
	options := &amqp.SenderOptions{}
	if o.conn.b.Capability != "" {
		options.TargetCapabilities = []string{o.conn.b.Capability}
	}
	if o.sender, err = o.session.NewSender(ctx, o.address, options); err == nil {
		return nil
	}
	if o.address == "" || o.conn.lost() || ctx.Err() != nil {
		return fmt.Errorf("%w: %w", broker.ErrLost, err)
	}
	return &broker.RefusedError{Reason: err}
}

// lost reports whether the connection is no more, which shows on its sessions
// sooner than on itself.
func (c *conn) lost() bool {
	select {
	case <-c.Done():
		return true
	case <-c.ctx.Done():
		return true
	default:
		return false
	}
}

// mostUnconfirmed is how many messages of a link wait for their confirmation.
const mostUnconfirmed = 1024

// unconfirmed is a message that was sent.
type unconfirmed struct {
	sending
	receipt amqp.SendReceipt
}

// send sends what is in the queue. It returns why it ends, once everything that it
// sent is settled.
func (o *outlet) send(ctx context.Context) error {
	sent := make(chan unconfirmed, mostUnconfirmed)
	confirmed := make(chan error, 1)
	go func() { confirmed <- broker.Guarded(func() { o.confirm(ctx, sent) }) }()
	err := o.sendAll(ctx, sent)
	close(sent)
	if panicked := <-confirmed; panicked != nil {
		return panicked
	}
	return err
}

func (o *outlet) sendAll(ctx context.Context, sent chan<- unconfirmed) error {
	for {
		batch := o.take()
		for i, s := range batch {
			receipt, err := o.sender.SendWithReceipt(ctx, o.encode(s.message), nil)
			switch {
			case err == nil:
				sent <- unconfirmed{s, receipt}
			case o.ended(ctx, err):
				o.putBack(batch[i:])
				return fmt.Errorf("%w: %w", broker.ErrLost, err)
			default: // nothing of it was sent: it cannot be encoded, or it is too large
				o.settled(s, &broker.RefusedError{Reason: err})
			}
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
			return broker.ErrLost
		}
	}
}

// putBack puts what could not be sent before what is in the queue.
func (o *outlet) putBack(batch []sending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(batch, o.queue...)
}

// ended reports whether an error of sending is that of the link or of what is below
// it.
func (o *outlet) ended(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	_, link := errors.AsType[*amqp.LinkError](err)
	_, session := errors.AsType[*amqp.SessionError](err)
	_, conn := errors.AsType[*amqp.ConnError](err)
	return link || session || conn || o.conn.lost()
}

// confirm waits for the broker to say what became of each message.
func (o *outlet) confirm(ctx context.Context, sent <-chan unconfirmed) {
	for u := range sent {
		state, err := u.receipt.Wait(ctx)
		o.settled(u.sending, o.outcome(state, err))
	}
}

// outcome returns what became of a message. A link that the broker detaches is about
// the message only if that was alone on it and the link is for its address.
func (o *outlet) outcome(state amqp.DeliveryState, err error) error {
	if err != nil {
		o.cancel() // or the sending half would wait for more
		link, ok := errors.AsType[*amqp.LinkError](err)
		o.mu.Lock()
		alone := o.underway == 1
		o.mu.Unlock()
		if ok && link.RemoteErr != nil && alone && o.address != "" && !o.conn.lost() {
			return &broker.RefusedError{Reason: err}
		}
		return fmt.Errorf("%w: %w", broker.ErrLost, err)
	}
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error != nil {
			return &broker.RefusedError{Reason: state.Error}
		}
		return &broker.RefusedError{Reason: errors.New("the broker rejected it")}
	}
	return &broker.RefusedError{Reason: fmt.Errorf("the broker did not accept it: %T", state)}
}
