// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// receive has a service, written in JSON, answer at each of the addresses of a broker,
// over the connections that these share.
func receive(t *testing.T, b *brokertest.Memory, options string, addresses ...string) []*receiver {
	t.Helper()
	logger := zap.NewNop()
	conns := newConnections(t.Name(), b, logger)
	t.Cleanup(func() { _ = conns.Destruct() }) // never fails
	var all []*receiver
	for _, address := range addresses {
		s := &Service{Address: address, Broker: t.Name()}
		if err := json.Unmarshal([]byte(options), s); err != nil {
			t.Fatal(err)
		}
		s.Name = address
		if err := s.check(); err != nil {
			t.Fatal(err)
		}
		svc, err := s.load()
		if err != nil {
			t.Fatal(err)
		}
		if err := svc.begin(logger); err != nil {
			t.Fatal(err)
		}
		rc := &receiver{
			address: address, broker: t.Name(), protocol: b, services: []*service{svc}, conns: conns, release: func() {},
			credit: s.Concurrency, grace: time.Duration(s.GracePeriod),
		}
		rc.logger.Store(logger)
		rc.begin()
		t.Cleanup(func() {
			_ = rc.Destruct() // never fails
			ending.Wait()
		})
		all = append(all, rc)
	}
	return all
}

// pass has time pass, and what is due then done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

const atOnce = `{"stages": [{"at": 0}]}`

// answers returns a function that returns when a broker was sent what, by the
// correlation ID.
func answers(b *brokertest.Memory) func() map[string]time.Time {
	var mu sync.Mutex
	came := make(map[string]time.Time)
	b.Sent = func(m *broker.Message) {
		mu.Lock()
		defer mu.Unlock()
		came[fmt.Sprint(m.CorrelationID)] = time.Now()
	}
	return func() map[string]time.Time {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(came)
	}
}

func ask(address string, id int) *broker.Delivery {
	return &broker.Delivery{Message: broker.Message{Address: address, ID: fmt.Sprint(id), ReplyTo: "replies"}}
}

// TestTwoConnections has many addresses, one of which is refused: all of them use one
// connection, and answers another.
func TestTwoConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		came := answers(b)
		b.Attach = func(_ int, address string) brokertest.Outcome {
			if address == "refused" {
				return brokertest.IsRefused
			}
			return brokertest.Succeeds
		}
		addresses := []string{"a", "b", "refused", "c"}
		receive(t, b, atOnce, addresses...)
		pass(time.Minute)
		for i, address := range addresses {
			b.Put(ask(address, i))
		}
		synctest.Wait()
		if ever, now := b.Connections(); ever != 2 || now != 2 {
			t.Errorf("%d connections, of which %d are left: want 2", ever, now)
		}
		if len(came()) != 3 {
			t.Errorf("answers to %v, want 3", came())
		}
	})
}

// TestAddressThatCostsTheConnection has one that ends the connection, or about which
// the broker says nothing. It goes on trying, and the others do not feel it again.
func TestAddressThatCostsTheConnection(t *testing.T) {
	for name, outcome := range map[string]brokertest.Outcome{"loses it": brokertest.LosesConnection, "is ignored": brokertest.IsIgnored} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := brokertest.NewMemory()
				came := answers(b)
				var healed atomic.Bool
				b.Attach = func(conn int, address string) brokertest.Outcome {
					if address == "bad" && !healed.Load() {
						return outcome
					}
					return brokertest.Succeeds
				}
				receive(t, b, atOnce, "a", "bad", "b")
				pass(time.Minute)
				shared := b.Receiver("a")
				if shared == 0 || b.Receiver("b") != shared || b.Receiver("bad") != 0 {
					t.Fatalf("received from over the connections %d, %d and %d", shared, b.Receiver("b"), b.Receiver("bad"))
				}
				before, _ := b.Connections()
				pass(10 * time.Minute)
				if now, _ := b.Connections(); now < before+10 {
					t.Errorf("it was tried %d times in 10 minutes", now-before)
				}
				if b.Receiver("a") != shared || b.Receiver("b") != shared {
					t.Error("the others have lost their connection again")
				}
				healed.Store(true)
				pass(time.Minute)
				own := b.Receiver("bad")
				if own == 0 || own == shared {
					t.Fatalf("received from over the connection %d", own)
				}
				b.Put(ask("bad", 1))
				b.Lose(own) // now it is as good as others
				pass(time.Minute)
				if b.Receiver("bad") != shared {
					t.Errorf("received from over the connection %d, want %d", b.Receiver("bad"), shared)
				}
				b.Put(ask("bad", 2))
				synctest.Wait()
				if len(came()) != 2 {
					t.Errorf("answers to %v, want 2", came())
				}
			})
		})
	}
}

// TestLosesSharedConnection gives the requests in hand of all addresses back when the
// connection is lost, and answers them once over the next.
func TestLosesSharedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		came := answers(b)
		all := receive(t, b, `{"stages": [{"at": 0, "latency": "10s"}]}`, "a", "b")
		synctest.Wait()
		b.Put(ask("a", 1))
		b.Put(ask("b", 2))
		pass(5 * time.Second)
		b.Lose(b.Receiver("a"))
		pass(7 * time.Second)
		if len(came()) != 0 {
			t.Errorf("answers to %v of the connection that was lost", came())
		}
		pass(5 * time.Second)
		if len(came()) != 2 {
			t.Errorf("answers to %v, want 2", came())
		}
		for _, rc := range all {
			if c := rc.services[0].counts; c[returned].n.Load() != 1 || c[answered].n.Load() != 1 {
				t.Errorf("%s: %d returned, %d answered", rc.address, c[returned].n.Load(), c[answered].n.Load())
			}
		}
		if ever, now := b.Connections(); ever != 3 || now != 2 {
			t.Errorf("%d connections, of which %d are left", ever, now)
		}
	})
}

// TestLosesBothConnections has an answer wait for its connection when that of its request
// is lost, too: it is given up, and the request answered when it comes again.
func TestLosesBothConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		came := answers(b)
		rc := receive(t, b, atOnce, "a")[0]
		synctest.Wait()
		b.Down.Store(true)
		b.Lose(3 - b.Receiver("a")) // that for answers
		b.Put(ask("a", 1))
		synctest.Wait()
		b.Lose(b.Receiver("a"))
		synctest.Wait()
		sender := rc.conns.answers
		sender.mu.Lock()
		if len(sender.backlog) != 0 || rc.services[0].counts[returned].n.Load() != 1 {
			t.Errorf("%d answers wait, %d requests were returned", len(sender.backlog), rc.services[0].counts[returned].n.Load())
		}
		sender.mu.Unlock()
		b.Down.Store(false)
		pass(time.Minute)
		if c := rc.services[0].counts; c[returned].n.Load() != 1 || c[answered].n.Load() != 1 || len(came()) != 1 {
			t.Errorf("%d returned, %d answered, answers to %v", c[returned].n.Load(), c[answered].n.Load(), came())
		}
	})
}
