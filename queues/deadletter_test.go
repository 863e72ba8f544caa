// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestDeadLetters has a service write dead letters that say why they are there and
// where they come from, instead of what an earlier one has said.
func TestDeadLetters(t *testing.T) {
	options := []string{"name dead", "match property kind quote", "stage 0s", "unmatched dead_letter " + dead, "unanswerable dead_letter " + dead}
	check := func(t *testing.T, got func(name string) any, reason, detail string) {
		t.Helper()
		for name, want := range map[string]string{"DeadLetterReason": reason, "DeadLetterErrorDescription": detail, "DeadLetterSource": requests} {
			if text := fmt.Sprint(got(name)); !strings.Contains(text, want) {
				t.Errorf("%s is %q, want %q", name, text, want)
			}
		}
	}
	t.Run("stomp", func(t *testing.T) {
		b := started(t)
		simulate(t, b, service(options...))
		for _, tc := range []struct {
			headers        []string
			reason, detail string
		}{
			{[]string{"kind", "other", "reply-to", replies}, "unmatched", "nothing matches it"},
			{[]string{"kind", "quote", "DeadLetterSource", "/queue/before"}, "unanswerable", "it does not say where to reply to"},
			{[]string{"kind", "quote", "reply-to", brokertest.Nowhere + "x"}, "unanswerable", "there is no such queue"},
		} {
			b.Put(requests, "", tc.headers...)
			m := b.Take(dead, 1)[0]
			check(t, func(name string) any { return m.Headers[name] }, tc.reason, tc.detail)
			if m.Headers["kind"] != tc.headers[1] {
				t.Errorf("%+v", m.Headers)
			}
		}
	})
	t.Run("amqp", func(t *testing.T) {
		b := brokertest.NewAMQP(t)
		overPeer(t, b, "sender_per_address on", options...)
		m := message(replies, "1")
		m.ApplicationProperties = map[string]any{"kind": "other", "n": int32(7), "DeadLetterReason": int32(3)}
		b.Put(requests, m)
		letter := b.Take(dead, 1)[0]
		check(t, func(name string) any { return letter.ApplicationProperties[name] }, "unmatched", "nothing matches it")
		if letter.ApplicationProperties["n"] != int32(7) || len(letter.ApplicationProperties) != 5 {
			t.Errorf("%v", letter.ApplicationProperties)
		}
		b.Put(requests, message(brokertest.RefusesLink, "2"))
		letter = b.Take(dead, 1)[0]
		check(t, func(name string) any { return letter.ApplicationProperties[name] }, "unanswerable", "no such address")
	})
}
