// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// subscription is the only one of a connection.
type subscription struct {
	conn    *conn
	address string
	deliver func(broker.Subscription, *broker.Delivery)
	inHand  chan struct{} // has one for each request that is in hand
	paused  chan struct{}
	pause   sync.Once
	done    chan struct{}
	err     error
}

const subscriptionID = "0"

// Receive implements broker.Conn. A connection has one source.
func (c *conn) Receive(ctx context.Context, source broker.Source) (broker.Subscription, error) {
	s := &subscription{
		conn: c, address: source.Address, deliver: source.Deliver,
		inHand: make(chan struct{}, source.Credit), paused: make(chan struct{}), done: make(chan struct{}),
	}
	c.mu.Lock()
	c.sub = s
	c.mu.Unlock()
	f := &frame{command: "SUBSCRIBE"}
	f.add("id", subscriptionID)
	f.add("destination", source.Address)
	f.add("ack", "client-individual")
	credit := strconv.Itoa(source.Credit)
	f.add("prefetch-count", credit)        // RabbitMQ
	f.add("activemq.prefetchSize", credit) // ActiveMQ
	subscribed := make(chan error, 1)
	c.send(f, func(err error) { subscribed <- err })
	select {
	case err := <-subscribed:
		return s, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// take delivers a request while fewer are in hand than were asked for: not every
// broker counts. Until then nothing more is read.
func (s *subscription) take(d *broker.Delivery) {
	select {
	case s.inHand <- struct{}{}:
	case <-s.paused:
	case <-s.conn.done:
		return
	}
	s.deliver(s, d)
}

// Settle implements broker.Subscription. That the broker has it is known when the
// connection has been closed.
func (s *subscription) Settle(d *broker.Delivery, how broker.Settlement, done func(error)) {
	message := d.Native.(*frame)
	f := &frame{command: "ACK"}
	if how == broker.Reject {
		f.command = "NACK"
		f.add("requeue", "false") // or RabbitMQ has it come again for ever
	}
	if id, ok := message.lookUp("ack"); ok && s.conn.version == "1.2" {
		f.add("id", id)
	} else {
		f.add("subscription", subscriptionID)
		f.add("message-id", message.get("message-id"))
	}
	s.conn.send(f, nil)
	select {
	case <-s.inHand:
	default: // it came while pausing
	}
	done(nil)
}

// Pause implements broker.Subscription. What is subscribed has to stay so until the
// last request is settled, or brokers would not know what an ACK is for; what comes
// meanwhile goes back.
func (s *subscription) Pause() { s.pause.Do(func() { close(s.paused) }) }

// Close implements broker.Subscription. It takes the connection along: what was
// unsubscribed from RabbitMQ keeps what is not settled until that is closed.
func (s *subscription) Close() { s.conn.Close() }

func (s *subscription) end(err error) {
	s.err = err
	close(s.done)
}

// Done implements broker.Subscription.
func (s *subscription) Done() <-chan struct{} { return s.done }

// Err implements broker.Subscription.
func (s *subscription) Err() error { return s.err }

// standard are the headers that are no properties of an application. RabbitMQ closes the
// connection of one who says a user-id that is not its own.
var standard = map[string]bool{
	"destination": true, "message-id": true, "ack": true, "subscription": true, "reply-to": true,
	"correlation-id": true, "content-type": true, "content-length": true, "persistent": true, "priority": true,
	"redelivered": true, "receipt": true, "receipt-id": true, "transaction": true, "id": true,
	"timestamp": true, "expires": true, "type": true, "amqp-message-id": true, "amq-msg-type": true,
	"original-destination": true, "browser": true, "breadcrumbId": true, "user-id": true,
}

// deliveryOf returns a frame as a request. One that says how long its body is has
// bytes, as ActiveMQ has it.
func deliveryOf(address string, f *frame) *broker.Delivery {
	d := &broker.Delivery{Native: f}
	d.Address = address
	d.Body = f.body
	if f.sized {
		d.Kind = broker.Bytes
	}
	d.ReplyTo = f.get("reply-to")
	d.ContentType = f.get("content-type")
	d.Durable = f.get("persistent") == "true"
	d.Redelivered = f.get("redelivered") == "true"
	if n, err := strconv.ParseUint(f.get("priority"), 10, 8); err == nil {
		priority := uint8(n)
		d.Priority = &priority
	}
	if id := f.get("correlation-id"); id != "" {
		d.CorrelationID = id
	}
	if id, ok := f.lookUp("amqp-message-id"); ok { // of who sent it; RabbitMQ's message-id is its own
		d.ID = id
	} else if id := f.get("message-id"); id != "" {
		d.ID = id
	}
	seen := make(map[string]bool, len(f.headers))
	for _, h := range f.headers {
		if !standard[h.name] && !seen[h.name] {
			seen[h.name] = true
			d.Properties = append(d.Properties, broker.Property{Name: h.name, Value: h.value})
		}
	}
	return d
}

// encode returns a message as it is sent.
func encode(m *broker.Message) *frame {
	f := &frame{command: "SEND", body: m.Body}
	f.add("destination", m.Address)
	if m.CorrelationID != nil {
		f.add("correlation-id", textOf(m.CorrelationID))
	}
	if m.ContentType != "" {
		f.add("content-type", m.ContentType)
	}
	if m.Durable {
		f.add("persistent", "true")
	}
	if m.Priority != nil {
		f.add("priority", strconv.Itoa(int(*m.Priority)))
	}
	if m.Copied != nil && m.ReplyTo != "" {
		f.add("reply-to", m.ReplyTo)
	}
	for _, p := range m.Properties {
		if !standard[p.Name] {
			f.add(p.Name, textOf(p.Value))
		}
	}
	f.sized = m.Kind == broker.Bytes || bytes.IndexByte(m.Body, 0) >= 0
	return f
}

func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	}
	return fmt.Sprint(value)
}
