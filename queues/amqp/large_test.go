// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package amqp

import (
	"bytes"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestLargeMessages sends messages of many frames through RabbitMQ: they come back as
// they were, the largest in more frames than are held back.
func TestLargeMessages(t *testing.T) {
	b := brokertest.RunRabbitMQ(t)
	config := &Broker{SenderPerAddress: true}
	config.URL, config.VirtualHost = "amqp://guest:guest@"+b.AMQP, "vhost:/"
	if err := config.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	came := make(chan *broker.Delivery, 10)
	sub, err := c.Receive(t.Context(), broker.Source{Address: "/queue/large", Credit: 10, Deliver: func(sub broker.Subscription, d *broker.Delivery) {
		sub.Settle(d, broker.Accept, func(error) { came <- d })
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 1 << 20, 20 << 20, 100} {
		body := bytes.Repeat([]byte("body "), size/5+1)
		sent := make(chan error, 1)
		c.Send(&broker.Message{Address: "/queue/large", Kind: broker.Bytes, Body: body}, func(err error) { sent <- err })
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		select {
		case d := <-came:
			if !bytes.Equal(d.Body, body) {
				t.Errorf("%d bytes have become %d", len(body), len(d.Body))
			}
		case <-sub.Done():
			t.Fatal(sub.Err())
		}
	}
}
