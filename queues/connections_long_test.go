// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package queues_test

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestRabbitMQBadServices has services at addresses that RabbitMQ refuses by ending the
// session, or over which it loses itself, beside one that goes on undisturbed.
func TestRabbitMQBadServices(t *testing.T) {
	const good, count = "/queue/good", 500
	bad := []string{"/nonsense/x", "/exchange/nope", "/temp-queue/x"}
	b := brokertest.RunRabbitMQ(t)
	services := []string{"service " + good + " {\nstage 0s 500ms\n}"}
	for _, address := range bad {
		services = append(services, "service "+address+" {\nstage 0s\n}")
	}
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, configOf(s.admin, overAMQP(b), services...))
	for _, address := range bad {
		caddytest.Eventually(t, address+" is refused", func() bool {
			for line := range strings.Lines(s.Logs()) {
				if strings.Contains(line, `"`+address+`"`) && (strings.Contains(line, "cannot receive") || strings.Contains(line, "connection of its own")) {
					t.Log(line)
					return true
				}
			}
			return false
		})
	}
	caddytest.Eventually(t, good+" is received from", func() bool { return s.status()[good].Receiving })
	before := len(s.Logs())
	o := asker{"amqp://guest:guest@" + b.AMQP, good, "/queue/good.answers"}.ask(t, count, 20*time.Millisecond)
	o.expect(t, count)
	if o.Twice > 0 {
		t.Errorf("%d answers came twice", o.Twice)
	}
	s.await(good, map[string]int{"answered": count})
	for line := range strings.Lines(s.Logs()[before:]) {
		if strings.Contains(line, "connection lost") && strings.Contains(line, `"connection":"requests"`) {
			t.Error(line)
		}
	}
}
