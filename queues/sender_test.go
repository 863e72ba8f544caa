// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// testSender sends answers to a broker, and counts what comes there and what became of
// them.
type testSender struct {
	*sender
	came map[string]int // by address, at the broker
	mu   sync.Mutex
	done map[string]int // by address and result
}

func sendTo(t *testing.T, b *brokertest.Memory) *testSender {
	var logger atomic.Pointer[zap.Logger]
	logger.Store(zap.NewNop())
	s := &testSender{sender: newSender(t.Name(), b, &logger), came: make(map[string]int), done: make(map[string]int)}
	b.Sent = func(m *broker.Message) { s.came[m.Address]++ }
	t.Cleanup(func() {
		s.end()
		synctest.Wait()
	})
	synctest.Wait()
	return s
}

// put sends an answer to an address.
func (s *testSender) put(address string) *answer {
	a := &answer{
		message: &broker.Message{Address: address},
		stale:   never,
		done: func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.done[fmt.Sprint(address, ": ", err)]++
		},
	}
	s.send(a)
	synctest.Wait()
	return a
}

// TestSendsEachAnswerOnce loses the connection while answers wait, some of them to an
// address that was attached, refused a message, and waits again.
func TestSendsEachAnswerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		var holds atomic.Bool
		holds.Store(true)
		b.Confirm = func(int, *broker.Message) brokertest.Outcome {
			if holds.Load() {
				return brokertest.IsIgnored
			}
			return brokertest.Succeeds
		}
		s := sendTo(t, b)
		s.put("first")
		s.put("b")
		s.put("b")
		s.put("c")
		s.put("d")             // waits until the end
		b.Settle("first", nil) // now the first one to b
		b.Settle("b", nil)     // now the other one, and c is attached
		b.Settle("b", &broker.RefusedError{Reason: errors.New("no")})
		pass(2 * lossDelay) // or the refusal is not believed
		s.put("b")          // waits again
		before := s.came["b"]
		holds.Store(false)
		b.Lose(1)
		pass(time.Minute)
		if got := s.came["b"] - before; got != 1 {
			t.Errorf("the last answer came %d times", got)
		}
		for result, want := range map[string]int{"first: <nil>": 1, "b: <nil>": 2, "b: no": 1, "c: <nil>": 1, "d: <nil>": 1} {
			if s.done[result] != want {
				t.Errorf("%s: %d times, want %d of %v", result, s.done[result], want, s.done)
			}
		}
	})
}

// TestQuarantineEnds has answers to one address come all the time, over one of which
// the connection was lost: later ones share the connection again.
func TestQuarantineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		b.Confirm = func(conn int, _ *broker.Message) brokertest.Outcome {
			if conn == 1 {
				return brokertest.LosesConnection
			}
			return brokertest.Succeeds
		}
		s := sendTo(t, b)
		for range 120 {
			s.put("a")
			pass(time.Second)
		}
		if ever, _ := b.Connections(); ever > 35 {
			t.Errorf("%d connections for 120 answers in two minutes", ever)
		}
		if s.done["a: <nil>"] != 120 {
			t.Errorf("got %v", s.done)
		}
	})
}

// TestForgetsQuarantines has many addresses that cost the connection and never come
// again, like those of temporary queues.
func TestForgetsQuarantines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		b.Confirm = func(int, *broker.Message) brokertest.Outcome { return brokertest.LosesConnection }
		s := sendTo(t, b)
		for i := range 10 {
			s.put(fmt.Sprint("bad", i))
			pass(2 * time.Minute)
		}
		s.sender.mu.Lock()
		defer s.sender.mu.Unlock()
		if len(s.quarantines) > 1 {
			t.Errorf("%d addresses are remembered", len(s.quarantines))
		}
		if len(s.done) != 10 {
			t.Errorf("got %v", s.done)
		}
	})
}

// TestForgetsAnswers holds that nothing keeps an answer in memory that was confirmed.
func TestForgetsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		s := sendTo(t, b)
		first := weak.Make(s.put("a"))
		s.put("b")
		for range 3 {
			runtime.GC()
		}
		if first.Value() != nil {
			t.Error("it is kept")
		}
	})
}

// TestRefusals has a message refused by a broker that goes on, and by one that ends then
// and takes it when it is back: only the first has refused the message.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome brokertest.Outcome
		lose    bool // soon afterwards
		want    string
	}{
		"goes on":         {brokertest.IsRefused, false, "a: there is no such address"},
		"ends afterwards": {brokertest.IsRefused, true, "a: <nil>"},
		"has ended":       {brokertest.IsRefusedAndLosesConnection, false, "a: <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := brokertest.NewMemory()
				b.Confirm = func(conn int, m *broker.Message) brokertest.Outcome {
					if conn == 1 && m.Address == "a" {
						return tc.outcome
					}
					return brokertest.Succeeds
				}
				s := sendTo(t, b)
				s.put("a")
				if tc.lose {
					pass(lossDelay / 2)
					b.Lose(1)
				}
				s.put("b")
				pass(time.Minute)
				if s.done[tc.want] != 1 || s.done["b: <nil>"] != 1 || len(s.done) != 2 {
					t.Errorf("got %v, want %s", s.done, tc.want)
				}
			})
		})
	}
}

// TestSilenceIsNoRefusal has a broker lose a connection, and then say nothing of the
// message for long, as one does that is short of memory: it is neither refused nor sent
// again.
func TestSilenceIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := brokertest.NewMemory()
		b.Confirm = func(conn int, _ *broker.Message) brokertest.Outcome {
			if conn == 1 {
				return brokertest.LosesConnection
			}
			return brokertest.IsIgnored
		}
		s := sendTo(t, b)
		s.put("a")
		pass(10 * time.Minute)
		if s.came["a"] != 2 || len(s.done) != 0 {
			t.Errorf("sent %d times, got %v", s.came["a"], s.done)
		}
		b.Settle("a", nil)
		synctest.Wait()
		if s.done["a: <nil>"] != 1 {
			t.Errorf("got %v", s.done)
		}
	})
}
