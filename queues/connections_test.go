// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// receiving runs a service with a name of its own at each address of a peer.
func receiving(t *testing.T, b *brokertest.AMQP, options string, addresses ...string) *simulator {
	t.Helper()
	var services []string
	for _, address := range addresses {
		services = append(services, fmt.Sprintf("service %s {\nname %s%s\n%s\n}", address, t.Name(), address, options))
	}
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, config(s.admin, "amqp://"+b.Addr, "sender_per_address on", services...))
	return s
}

// TestAMQPHasTwoConnections receives from several addresses over one connection. One
// whose link is refused and one whose session is ended cost the others nothing.
func TestAMQPHasTwoConnections(t *testing.T) {
	b := brokertest.NewAMQP(t)
	addresses := []string{"/queue/a", "/queue/b", "/queue/c"}
	s := receiving(t, b, "stage 0s 1ms", append([]string{brokertest.RefusesLink + "in", brokertest.EndsSession + "in"}, addresses...)...)
	for _, bad := range []string{brokertest.RefusesLink + "in", brokertest.EndsSession + "in"} {
		caddytest.Eventually(t, bad+" is refused", func() bool {
			for line := range strings.Lines(s.Logs()) {
				if strings.Contains(line, "cannot receive; trying again") && strings.Contains(line, bad) {
					return true
				}
			}
			return false
		})
	}
	for i := range 30 {
		b.Put(addresses[i%3], message(replies, fmt.Sprint(i)))
	}
	b.Take(replies, 30)
	for _, address := range addresses {
		s.await(t.Name()+address, map[string]int{"answered": 10})
	}
	if n := len(b.Containers()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	if metrics := s.get("/metrics"); !strings.Contains(metrics, `caddy_queue_simulator_connected{broker="mq",connection="requests"} 1`) {
		t.Error("the connection for requests is not in metrics")
	}
}

// TestAMQPAddressThatDisconnects has one that ends the connection. It is tried alone
// from then on, while a request of another sleeps, which is answered and not returned.
func TestAMQPAddressThatDisconnects(t *testing.T) {
	const good = "/queue/a"
	b := brokertest.NewAMQP(t)
	s := receiving(t, b, "stage 0s 1s", brokertest.Disconnects+"in", good)
	before := func(n int) {
		t.Helper()
		caddytest.Eventually(t, fmt.Sprintf("%d connections", n), func() bool { return len(b.Containers()) >= n })
	}
	before(5) // one for answers, two for requests, and two of its own
	caddytest.Eventually(t, good+" is received from", func() bool { return s.status()[t.Name()+good].Receiving })
	n := len(b.Containers())
	b.Put(good, message(replies, "1"))
	before(n + 2)
	b.Take(replies, 1)
	s.await(t.Name()+good, map[string]int{"answered": 1})
	if s.status()[t.Name()+brokertest.Disconnects+"in"].Receiving {
		t.Error("receives from an address that disconnects")
	}
}

// TestAMQPReloadClosesReceiver changes one of two services while requests of both
// sleep: what the old one leaves goes back to the broker over a connection that stays.
func TestAMQPReloadClosesReceiver(t *testing.T) {
	b := brokertest.NewAMQP(t)
	both := func(latency string) []string {
		return []string{
			"service /queue/a {\nname " + t.Name() + "a\nbody kept\nstage 0s 1s\n}",
			"service /queue/b {\nname " + t.Name() + "b\nbody " + latency + "\nstage 0s " + latency + "\ngrace_period 50ms\n}",
		}
	}
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, config(s.admin, "amqp://"+b.Addr, "sender_per_address on", both("1h")...))
	b.Put("/queue/a", message(replies, "a"))
	b.Put("/queue/b", message(replies, "b"))
	s.awaitInHand(t.Name()+"a", 1)
	s.awaitInHand(t.Name()+"b", 1)
	s.Reload(config(s.admin, "amqp://"+b.Addr, "sender_per_address on", both("1ms")...))
	for _, m := range b.Take(replies, 2) {
		if want := map[any]any{"a": "kept", "b": "1ms"}[m.Properties.CorrelationID]; string(m.GetData()) != want {
			t.Errorf("%v is answered %q, want %q", m.Properties.CorrelationID, m.GetData(), want)
		}
	}
	s.await(t.Name()+"a", map[string]int{"answered": 1})
	if n := len(b.Containers()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}
