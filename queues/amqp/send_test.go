// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package amqp

import (
	"errors"
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// dial connects to a peer, over a link for each address or one for all.
func dial(t *testing.T, b *brokertest.AMQP, perAddress bool) broker.Conn {
	t.Helper()
	config := &Broker{SenderPerAddress: perAddress}
	config.URL = "amqp://" + b.Addr
	if err := config.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestPanicsCostOneMessage has one over which encoding panics, among good ones: it is
// refused, and they are sent.
func TestPanicsCostOneMessage(t *testing.T) {
	b := brokertest.NewAMQP(t)
	c := dial(t, b, false)
	const count = 10
	results := make(chan error, count)
	for i := range count {
		m := &broker.Message{Address: "/queue/a", Body: []byte("body")}
		if i == 4 {
			m.Copied = new(broker.Delivery) // which the protocol has not received
		}
		c.Send(m, func(err error) { results <- err })
	}
	refused := 0
	for range count {
		err := <-results
		if _, ok := errors.AsType[*broker.RefusedError](err); ok {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d were refused", refused)
	}
	b.Take("/queue/a", count-1)
}

// TestManyAddresses sends to more than there are links for, at once and one after the
// other: each message is confirmed, and no more links are kept.
func TestManyAddresses(t *testing.T) {
	b := brokertest.NewAMQP(t)
	c := dial(t, b, true)
	const count = 2 * mostSenders
	for range 3 {
		results := make(chan error, count)
		for i := range count {
			c.Send(&broker.Message{Address: fmt.Sprint("/queue/", i)}, func(err error) { results <- err })
		}
		for range count {
			if err := <-results; err != nil {
				t.Fatal(err)
			}
		}
	}
	inner := c.(*conn)
	for i := range 2 {
		done := make(chan error, 1)
		c.Send(&broker.Message{Address: fmt.Sprint("/queue/more", i)}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	inner.mu.Lock()
	defer inner.mu.Unlock()
	if n := len(inner.senders); n > mostSenders {
		t.Errorf("%d links are kept", n)
	}
}
