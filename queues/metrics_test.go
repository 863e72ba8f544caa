// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// metric returns the value of a metric with its labels; -1 if there is none.
func (s *simulator) metric(name string) float64 {
	s.t.Helper()
	for line := range strings.Lines(s.get("/metrics")) {
		if value, ok := strings.CutPrefix(line, "caddy_queue_simulator_"+name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return n
		}
	}
	return -1
}

// TestMetrics has requests of each result, and each of the other metrics move.
func TestMetrics(t *testing.T) {
	b := started(t)
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	of := func(options ...string) string {
		one := service(append(options, "name s", "match property kind known", "unmatched discard", "body x")...)
		return strings.ReplaceAll(config(s.admin, "stomp://"+b.Addr, "", one), "broker mq", "broker counted")
	}
	s.Server = caddytest.Run(t, of("stage 0s"))
	caddytest.Eventually(t, "both connections are there", func() bool { _, now := b.Connects(); return now == 2 })
	replace := func(options ...string) {
		ever, _ := b.Connects()
		s.Reload(of(options...))
		caddytest.Eventually(t, "the former one receives no more", func() bool {
			again, now := b.Connects()
			return again == ever+1 && now == 2
		})
	}
	await := func(name string, is func(float64) bool) {
		t.Helper()
		caddytest.Eventually(t, name, func() bool { return is(s.metric(name)) })
	}
	exactly := func(want float64) func(float64) bool { return func(n float64) bool { return n == want } }
	some := func(n float64) bool { return n > 0 }
	result := func(name string) string { return `requests_total{broker="counted",result="` + name + `",service="s"}` }
	const labels = `{broker="counted",service="s"}`

	for _, name := range []string{"answered", "dropped", "unmatched", "unanswerable", "dead_lettered", "failed", "returned"} {
		await(result(name), exactly(0)) // before there is any
	}
	b.Put(requests, "", "kind", "known", "reply-to", replies)
	await(result("answered"), exactly(1))
	b.Put(requests, "", "kind", "other", "reply-to", replies)
	await(result("unmatched"), exactly(1))
	b.Put(requests, "", "kind", "known", "message-id", "ID:unanswerable")
	await(result("unanswerable"), exactly(1))
	replace("stage 0s", "unanswerable dead_letter "+dead)
	b.Put(requests, "", "kind", "known")
	await(result("dead_lettered"), exactly(1))
	replace("stage 0s {\nfault drop\n}")
	b.Put(requests, "", "kind", "known", "reply-to", replies)
	await(result("dropped"), exactly(1))
	replace("stage 0s {\nfault late 1ms\n}")
	b.Put(requests, "", "kind", "known", "reply-to", brokertest.Nowhere+"x")
	await(result("failed"), exactly(1))
	await(`latency_seconds_count`+labels, exactly(5))

	caddytest.Eventually(t, "connections are there again", func() bool { _, now := b.Connects(); return now == 2 })
	replace("stage 0s 1h", "grace_period 50ms")
	await(`asleep`+labels, exactly(0))
	b.Put(requests, "", "kind", "known", "reply-to", replies)
	await(`asleep`+labels, exactly(1))
	replace("stage 0s")
	await(result("returned"), exactly(1))
	await(`redelivered_total`+labels, exactly(1))
	await(`asleep`+labels, exactly(0))
	await(result("answered"), exactly(2))
	await(`latency_seconds_bucket{broker="counted",service="s",le="60"}`, exactly(6))
	await(`latency_seconds_sum`+labels, exactly(3600))

	const answers, receives = `connected{broker="counted",connection="answers"}`, `connected{broker="counted",connection="requests /queue/orders"}`
	await(answers, exactly(1))
	await(receives, exactly(1))
	b.Put(requests, "", "kind", "known", "reply-to", brokertest.Silent+"x")
	await(`answer_retries_total{broker="counted"}`, some)
	await(`reconnects_total{broker="counted"}`, some)
	b.Stop()
	await(answers, exactly(0))
	await(receives, exactly(0))
	logs := s.Logs()
	for _, want := range []string{
		`"connected"`, `"receiving"`, `"connection lost"`, `"a request cannot be answered"`, `"ID:unanswerable"`,
		`"requests that sleep are still answered"`, `"requests go back to the broker: the grace period is over"`,
	} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
