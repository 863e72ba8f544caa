// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestAnswers sends texts and bytes, with and without a correlation id.
func TestAnswers(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service("concurrency 7", `body "it is <<8b>>"`, "header Served yes", "stage 0s 5ms..10ms"))
	b.Put(requests, "a", "reply-to", replies, "message-id", "ID:1", "kind", "x:y\nz\\", "persistent", "true", "priority", "6")
	b.Put(requests, "b", "reply-to", replies, "message-id", "ID:2", "correlation-id", "mine", "content-length", "1")
	byID := make(map[string]*brokertest.Message)
	for _, m := range b.Take(replies, 2) {
		byID[m.Headers["correlation-id"]] = m
	}
	for id, want := range map[string]map[string]string{
		"ID:1": {"kind": "x:y\nz\\", "persistent": "true", "priority": "6", "Served": "yes", "content-length": ""},
		"mine": {"content-length": "14", "Served": "yes", "persistent": ""},
	} {
		m := byID[id]
		if m == nil {
			t.Fatalf("no answer has the correlation id %s: %v", id, byID)
		}
		for name, value := range want {
			if m.Headers[name] != value {
				t.Errorf("%s: %s is %q, want %q", id, name, m.Headers[name], value)
			}
		}
		if !strings.HasPrefix(m.Body, "it is ") || len(m.Body) != 14 {
			t.Errorf("%s: body %q", id, m.Body)
		}
	}
	s.await(requests, map[string]int{"answered": 2})
	b.AwaitUnsettled(0)
	if n := b.Prefetch(); n != 7 {
		t.Errorf("asked for %d requests at once, want 7", n)
	}
	metrics := s.get("/metrics")
	for _, want := range []string{
		`caddy_queue_simulator_requests_total{broker="mq",result="answered",service="/queue/orders"}`,
		`caddy_queue_simulator_connected{broker="mq",connection="answers"} 1`,
		`caddy_queue_simulator_asleep{broker="mq",service="/queue/orders"} 0`,
		`caddy_queue_simulator_latency_seconds_count{broker="mq",service="/queue/orders"}`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// TestAcceptsWhatIsConfirmed holds back the broker's word that it has the answer:
// until then the request is not accepted.
func TestAcceptsWhatIsConfirmed(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service("stage 0s"))
	b.Hold(replies)
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	b.AwaitUnsettled(1)
	if got := s.status()[requests]; got.InHand != 1 || len(got.Requests) != 0 {
		t.Errorf("got %+v", got)
	}
	b.Release(replies)
	b.AwaitUnsettled(0)
	s.await(requests, map[string]int{"answered": 1})
}

// TestBadReplyTo has bad addresses among good ones: all good ones are answered, and
// each bad one is a dead letter, once.
func TestBadReplyTo(t *testing.T) {
	for name, bad := range map[string][]string{
		"none":     {"", ""},
		"an error": {brokertest.Nowhere + "x", brokertest.Nowhere + "y"},
		"silence":  {brokertest.Silent + "x", brokertest.Silent + "y"},
	} {
		t.Run(name, func(t *testing.T) {
			b := started(t)
			s := simulate(t, b, service("stage 0s 1ms", "unanswerable dead_letter "+dead))
			before := s.status()[requests].Requests
			const good = 60
			for i := range good {
				b.Put(requests, "", "reply-to", fmt.Sprint(replies, i%5), "correlation-id", fmt.Sprint(i))
				if i%20 == 10 && i/20 < len(bad) {
					headers := []string{"correlation-id", bad[i/20]}
					if bad[i/20] != "" {
						headers = append(headers, "reply-to", bad[i/20])
					}
					b.Put(requests, "bad", headers...)
				}
			}
			for _, m := range b.Take(dead, 2) {
				if m.Body != "bad" || m.Headers["reply-to"] != m.Headers["correlation-id"] {
					t.Errorf("dead letter %+v", m)
				}
			}
			answered := make(map[string]bool)
			for i := range 5 {
				b.Await("answers", func() bool { return true })
				for len(answered) < (i+1)*good/5 {
					answered[b.Take(fmt.Sprint(replies, i), 1)[0].Headers["correlation-id"]] = true
				}
			}
			s.await(requests, map[string]int{"answered": before["answered"] + good, "dead_lettered": before["dead_lettered"] + 2})
			b.AwaitUnsettled(0)
		})
	}
}

func TestFaults(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service(
		"stage 0s {", "outcome {\nfirst 1 by header drop\nfault drop\n}", "}",
	))
	b.Put(requests, "", "reply-to", replies)
	s.await(requests, map[string]int{"dropped": 1})
	b.AwaitUnsettled(0)
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body x", "stage 0s {\nfault duplicate\n}")))
	b.Put(requests, "", "reply-to", replies, "correlation-id", "2")
	for _, m := range b.Take(replies, 2) {
		if m.Headers["correlation-id"] != "2" {
			t.Errorf("got %+v", m)
		}
	}
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body x", "stage 0s {\nfault poison\n}")))
	b.Put(requests, "", "reply-to", replies)
	if m := b.Take(replies, 1)[0]; m.Headers["content-length"] != "1" {
		t.Errorf("a poisoned text is %+v", m)
	}
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body x", "stage 0s {\nfault late 100ms\n}")))
	b.Hold(replies)
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	b.AwaitUnsettled(0) // though the answer is not confirmed
	b.Release(replies)
}

// TestMatching has two services on an address, one of which has mappings.
func TestMatching(t *testing.T) {
	mappings := filepath.Join(t.TempDir(), "quotes.json")
	if err := os.WriteFile(mappings, []byte(`{"mappings": [
		{"request": {"urlPath": "/queue/orders", "bodyPatterns": [{"matchesJsonPath": "$.price"}]},
		 "response": {"body": "{{jsonPath request.body '$.price'}} for {{request.headers.who}}", "transformers": ["response-template"], "headers": {"quoted": "yes"}, "fixedDelayMilliseconds": 1}}
	]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := started(t)
	s := simulate(t, b,
		service("name quotes", "match property kind quote", "match body contains price", "mappings "+mappings),
		service("name rest", "match property kind does_not_match q.*", "body rest", "stage 0s", "unmatched discard"))
	ask := func(body, kind string) *brokertest.Message {
		b.Put(requests, body, "reply-to", replies, "kind", kind, "who", "me")
		return b.Take(replies, 1)[0]
	}
	if m := ask(`{"price": 12}`, "quote"); m.Body != "12 for me" || m.Headers["quoted"] != "yes" {
		t.Errorf("got %+v", m)
	}
	if m := ask(`{"price": 12}`, "other"); m.Body != "rest" {
		t.Errorf("got %+v", m)
	}
	b.Put(requests, `{"cost": 12}`, "reply-to", replies, "kind", "quote")
	s.await("quotes", map[string]int{"answered": 1, "unmatched": 1})
	b.AwaitUnsettled(0)
}

// TestBrokerDown loads a configuration whose broker is not there.
func TestBrokerDown(t *testing.T) {
	b := brokertest.NewStomp(t)
	s := simulate(t, b, service("stage 0s 1ms"))
	b.Put(requests, "", "reply-to", replies)
	if s.status()[requests].Receiving {
		t.Error("receives from nowhere")
	}
	b.Start()
	b.Take(replies, 1)
	b.Stop()
	b.Start()
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	b.AwaitUnsettled(0)
	if logs := s.Logs(); strings.Count(logs, `"cannot connect; trying again"`) == 0 {
		t.Errorf("nothing is logged of it: %s", logs)
	}
}

// TestReload keeps connections where nothing has changed, and answers the requests
// that sleep where something has.
func TestReload(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service("stage 0s 1ms"))
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	ever, _ := b.Connects()
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("stage 0s 1ms")) + "# changed\n")
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	if now, _ := b.Connects(); now != ever {
		t.Errorf("connected %d times more", now-ever)
	}
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body old", "stage 0s 300ms")))
	for range 10 {
		b.Put(requests, "", "reply-to", replies)
	}
	s.awaitInHand(requests, 10)
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body new", "stage 0s")))
	for _, m := range b.Take(replies, 10) {
		if m.Body != "old" {
			t.Errorf("got %q", m.Body)
		}
	}
	b.Put(requests, "", "reply-to", replies)
	for b.Take(replies, 1)[0].Body != "new" { // the former one lets none come, once its last has gone
		b.Put(requests, "", "reply-to", replies)
	}
}

// TestGivesBack ends while requests sleep for longer than they may.
func TestGivesBack(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service("stage 0s 1h", "grace_period 50ms"))
	for range 5 {
		b.Put(requests, "", "reply-to", replies)
	}
	s.awaitInHand(requests, 5)
	s.Reload(config(s.admin, "stomp://"+b.Addr, "", service("body new", "stage 0s")))
	for _, m := range b.Take(replies, 5) {
		if m.Body != "new" {
			t.Errorf("got %q", m.Body)
		}
	}
}

// TestLostAnswersAreSentAgain loses the connection to a bad address while good
// answers on it are not confirmed: these are nobody's fault but its own.
func TestLostAnswersAreSentAgain(t *testing.T) {
	b := started(t)
	s := simulate(t, b, service("name lost", "stage 0s", "unanswerable dead_letter "+dead))
	b.Put(requests, "", "reply-to", replies)
	b.Take(replies, 1)
	s.await("lost", map[string]int{"answered": 1})
	b.Hold(replies)
	for range 10 {
		b.Put(requests, "", "reply-to", replies)
	}
	b.Take(replies, 10) // not one of which is confirmed
	before, _ := b.Connects()
	b.Put(requests, "bad", "reply-to", brokertest.Silent+"x")
	b.Await("new connections", func() bool { return b.Connected() > before })
	b.Release(replies)
	if m := b.Take(dead, 1)[0]; m.Body != "bad" {
		t.Errorf("dead letter %+v", m)
	}
	s.await("lost", map[string]int{"answered": 11, "dead_lettered": 1})
	b.AwaitUnsettled(0)
}
