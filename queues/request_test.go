// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestPanicsCostOneRequest has a service panic over a request: it is rejected like
// others that cannot be decided on, and nothing waits for it.
func TestPanicsCostOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		came := answers(b)
		rc := receive(t, b, atOnce, "a")[0]
		synctest.Wait()
		rc.services[0].conditions = conditions{nil}
		b.Put(ask("a", 1))
		rc.services[0].conditions = nil
		b.Put(ask("a", 2))
		synctest.Wait()
		b.Lose(b.Receiver("a")) // what is not settled comes again
		pass(time.Minute)
		if c := rc.services[0].counts; c[failed].n.Load() != 1 || c[answered].n.Load() != 1 || len(came()) != 1 {
			t.Errorf("%d failed, %d answered, answers to %v", c[failed].n.Load(), c[answered].n.Load(), came())
		}
		rc.mu.Lock()
		defer rc.mu.Unlock()
		if rc.pending != 0 {
			t.Errorf("%d in hand", rc.pending)
		}
	})
}

// TestNoBodyFile has a request ask for a body file that is not there: no answer is made
// of that.
func TestNoBodyFile(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"mappings/m.json": `{"request": {"urlPath": "/a"}, "response": {"bodyFileName": "{{request.headers.file}}", "transformers": ["response-template"]}}`,
		"__files/there":   "it is there",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options, err := json.Marshal(map[string]any{"mapping_files": []string{filepath.Join(root, "mappings")}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		came := answers(b)
		rc := receive(t, b, string(options), "a")[0]
		for i, file := range []string{"there", "missing"} {
			d := ask("a", i)
			d.Properties = []broker.Property{{Name: "file", Value: file}}
			b.Put(d)
		}
		synctest.Wait()
		if c := rc.services[0].counts; c[failed].n.Load() != 1 || c[answered].n.Load() != 1 || len(came()) != 1 {
			t.Errorf("%d failed, %d answered, answers to %v", c[failed].n.Load(), c[answered].n.Load(), came())
		}
	})
}

// lostSubscription is one of a connection that has just been lost.
type lostSubscription struct{ broker.Subscription }

func (lostSubscription) Settle(_ *broker.Delivery, _ broker.Settlement, done func(error)) {
	done(broker.ErrLost)
}

// TestCannotSettle has the connection lost while requests are settled: those that come
// again without an answer are returned, and get none late.
func TestCannotSettle(t *testing.T) {
	for name, tc := range map[string]struct {
		options, result string
		sent            int
	}{
		"answered": {atOnce, answered, 1},
		"dropped":  {`{"stages": [{"at": 0, "outcomes": [{"fault": "drop"}]}]}`, returned, 0},
		"late":     {`{"stages": [{"at": 0, "outcomes": [{"fault": "late 1s"}]}]}`, returned, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := brokertest.NewMemory()
				came := answers(b)
				rc := receive(t, b, tc.options, "a")[0]
				synctest.Wait()
				rc.mu.Lock()
				rc.pending++
				rc.mu.Unlock()
				r := &request{receiver: rc, link: new(link), sub: lostSubscription{}, d: ask("a", 1), service: rc.services[0]}
				r.begin()
				pass(time.Minute)
				if n := rc.services[0].counts[tc.result].n.Load(); n != 1 || len(came()) != tc.sent {
					t.Errorf("%d %s, answers to %v", n, tc.result, came())
				}
			})
		})
	}
}
