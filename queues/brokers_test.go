// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package queues_test

import (
	"testing"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestRealBrokers is the short form of what is asked of real brokers: answers of each
// kind to temporary and named queues, a bad reply-to among good ones, and a kill.
func TestRealBrokers(t *testing.T) {
	t.Run("RabbitMQ", func(t *testing.T) {
		b := brokertest.RunRabbitMQ(t)
		t.Run("amqp", func(t *testing.T) { amqpSuite(t, b).brief(t) })
		t.Run("stomp", func(t *testing.T) { stompSuite(b).brief(t) })
	})
	t.Run("ActiveMQ", func(t *testing.T) { openWireSuite(brokertest.RunActiveMQ(t)).brief(t) })
}

func (s suite) brief(t *testing.T) {
	const count = 20
	t.Run("bad", func(t *testing.T) {
		sim := s.simulate(t, "stage 0s 20ms", "unanswerable discard")
		s.ask(t, "named", count, s.bad[0])().expect(t, count)
		sim.await(requests, map[string]int{"answered": count, "unanswerable": 1})
	})
	t.Run("kill", func(t *testing.T) {
		p := s.start(t, "stage 0s 1s")
		p.receiving()
		done := s.ask(t, "answers", count)
		p.awaitInHand(requests, count)
		_ = p.cmd.Process.Kill()
		next := s.start(t, "stage 0s 20ms")
		done().expect(t, count)
		next.await(requests, map[string]int{"answered": count})
	})
}
