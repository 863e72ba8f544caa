// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// senderLink is a link that messages are sent over, in a session of its own: what ends
// the session of one address ends that of no other.
type senderLink struct {
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

// mostSenders is how many links are kept for addresses.
const mostSenders = 256

// attachTimeout is how long a link may take. A broker that says nothing about an address
// for so long has lost itself over it.
const attachTimeout = 10 * time.Second

// Send implements broker.Conn.
func (c *conn) Send(m *broker.Message, done func(error)) {
	address := ""
	if c.b.SenderPerAddress {
		address = m.Address
	}
	for {
		if c.senderLink(address).add(sending{m, done}) {
			return
		}
	}
}

// senderLink returns the link for an address, which may just be made.
func (c *conn) senderLink(address string) *senderLink {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	l := c.senders[address]
	if l == nil {
		for len(c.senders) >= mostSenders && c.closeOldest() {
		}
		l = &senderLink{conn: c, address: address, wake: make(chan struct{}, 1)}
		var ctx context.Context
		ctx, l.cancel = context.WithCancel(c.ctx)
		c.senders[address] = l
		go l.run(ctx)
	}
	l.used = c.uses
	return l
}

// closeOldest closes the link that was not used for longest, and reports whether there
// was one that has nothing to do. The lock is held.
func (c *conn) closeOldest() bool {
	var oldest *senderLink
	for _, l := range c.senders {
		if (oldest == nil || l.used < oldest.used) && l.idle() {
			oldest = l
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.senders, oldest.address)
	oldest.retire()
	return true
}

func (l *senderLink) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.underway == 0
}

// retire closes the link when it has nothing to do any more.
func (l *senderLink) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed = true; l.underway == 0 {
		l.cancel()
	}
}

// add puts a message into the queue; false if the link is no more.
func (l *senderLink) add(s sending) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	l.queue = append(l.queue, s)
	l.underway++
	l.mu.Unlock()
	rouse(l.wake)
	return true
}

func (l *senderLink) take() []sending {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queue
	l.queue = nil
	return queue
}

func (l *senderLink) settled(s sending, err error) {
	l.mu.Lock()
	if l.underway--; l.closed && l.underway == 0 {
		l.cancel()
	}
	l.mu.Unlock()
	s.done(err)
}

// run attaches the link and sends until it is lost or closed.
func (l *senderLink) run(ctx context.Context) {
	var err error
	panicked := broker.Guarded(func() {
		if err = l.attach(ctx); err == nil {
			err = l.send(ctx)
		}
	})
	if panicked != nil {
		err = panicked
	}
	l.cancel()
	l.conn.mu.Lock()
	if l.conn.senders[l.address] == l {
		delete(l.conn.senders, l.address)
	}
	l.conn.mu.Unlock()
	l.mu.Lock()
	l.closed = true
	left := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, s := range left {
		l.settled(s, err)
	}
	if l.session != nil {
		ctx, cancel := context.WithTimeout(context.Background(), attachTimeout)
		defer cancel()
		_ = l.session.Close(ctx)
	}
}

// attach makes the session and the link. That the broker refuses the link or ends
// its session is about the address, as nothing else is in that.
func (l *senderLink) attach(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	if l.session, err = l.conn.NewSession(ctx, nil); err != nil {
		return fmt.Errorf("%w: %w", broker.ErrLost, err)
	}
	options := &amqp.SenderOptions{}
	if l.conn.b.Capability != "" {
		options.TargetCapabilities = []string{l.conn.b.Capability}
	}
	if l.sender, err = l.session.NewSender(ctx, l.address, options); err == nil {
		return nil
	}
	if l.address == "" {
		return fmt.Errorf("%w: there is no link for messages to any address, as with sender_per_address off: %w", broker.ErrLost, err)
	}
	if l.conn.lost() || ctx.Err() != nil {
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

// send sends what is in the queue. It returns why it ends, once everything that it
// sent is settled.
func (l *senderLink) send(ctx context.Context) error {
	sent := make(chan unconfirmed, mostUnconfirmed)
	confirmed := make(chan struct{})
	go func() {
		defer close(confirmed)
		for broker.Guarded(func() { l.confirm(ctx, sent) }) != nil {
			l.cancel() // but what else was sent is settled, too
		}
	}()
	defer func() {
		close(sent)
		<-confirmed
	}()
	return l.sendAll(ctx, sent)
}

func (l *senderLink) sendAll(ctx context.Context, sent chan<- unconfirmed) error {
	for {
		batch := l.take()
		for i, s := range batch {
			var receipt amqp.SendReceipt
			var err error
			panicked := broker.Guarded(func() { receipt, err = l.sender.SendWithReceipt(ctx, l.encode(s.message), nil) })
			switch {
			case panicked != nil:
				l.settled(s, &broker.RefusedError{Reason: panicked})
			case err == nil:
				sent <- unconfirmed{s, receipt}
			case l.ended(ctx, err):
				l.putBack(batch[i:])
				return fmt.Errorf("%w: %w", broker.ErrLost, err)
			default: // nothing of it was sent: it cannot be encoded, or it is too large
				l.settled(s, &broker.RefusedError{Reason: err})
			}
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return broker.ErrLost
		}
	}
}

// putBack puts what could not be sent before what is in the queue.
func (l *senderLink) putBack(batch []sending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(batch, l.queue...)
}
