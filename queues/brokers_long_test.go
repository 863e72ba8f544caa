// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package queues_test

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestRabbitMQ asks it over each of its protocols.
func TestRabbitMQ(t *testing.T) {
	b := brokertest.RunRabbitMQ(t)
	t.Run("amqp", func(t *testing.T) { amqpSuite(t, b).run(t) })
	t.Run("stomp", func(t *testing.T) { stompSuite(b).run(t) })
}

func TestActiveMQ(t *testing.T) { openWireSuite(brokertest.RunActiveMQ(t)).run(t) }

func (s suite) run(t *testing.T) {
	const count = 200
	t.Run("answers", func(t *testing.T) {
		sim := s.simulate(t, "stage 0s lognormal(50ms,0.5)")
		s.ask(t, "answers", count)().expect(t, count)
		s.ask(t, "named", count)().expect(t, count)
		sim.await(requests, map[string]int{"answered": 2 * count})
	})
	t.Run("many", func(t *testing.T) {
		s.simulate(t, "stage 0s 1s", "concurrency 1000")
		s.ask(t, "many", 1000)().expect(t, 1000)
	})
	for _, replyTo := range append([]string{""}, s.replyTo...) {
		t.Run("bad"+replyTo, func(t *testing.T) { s.runBad(t, replyTo) })
	}
	t.Run("kill", func(t *testing.T) {
		p := s.start(t, "stage 0s 2s")
		p.receiving()
		done := s.ask(t, "kill", count)
		p.awaitInHand(requests, count)
		_ = p.cmd.Process.Kill()
		next := s.start(t, "stage 0s 2s")
		done().expect(t, count)
		next.await(requests, map[string]int{"answered": count})
	})
	t.Run("term", func(t *testing.T) {
		p := s.start(t, "stage 0s 2s")
		p.receiving()
		done := s.ask(t, "term", count)
		p.awaitInHand(requests, count)
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		done().expect(t, count)
		_ = p.cmd.Wait()
		if p.cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("it ended with %v", p.cmd.ProcessState)
		}
	})
	t.Run("reload", func(t *testing.T) {
		sim := s.simulate(t, "concurrency 50", "stage 0s 500ms")
		done := s.ask(t, "reload", count)
		sim.awaitInHand(requests, 50)
		sim.Reload(configOf(sim.admin, s.broker, s.service("concurrency 50", "stage 0s 300ms")))
		done().expect(t, count)
	})
}

// runBad has every bad reply-to among good ones: these are answered, and each of the
// others is a dead letter or, where the broker takes it, an answer, once.
func (s suite) runBad(t *testing.T, replyTo string) {
	const good = 300
	letters := dead
	if s.dead == nil { // the protocols of one broker declare a queue of the same name differently
		letters += ".stomp"
	}
	options := []string{"stage 0s 200ms", "unanswerable dead_letter " + letters}
	if replyTo != "" {
		options = append(options, "reply_to "+replyTo)
	}
	sim := s.simulate(t, options...)
	s.ask(t, "bad", good, slices.Concat(s.bad, s.answered)...)().expect(t, good)
	for deadline := time.Now().Add(2 * time.Minute); sim.status()[requests].Requests["dead_lettered"] < len(s.bad) && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	sim.await(requests, map[string]int{"answered": good + len(s.answered), "dead_lettered": len(s.bad)})
	if s.dead != nil && s.dead(len(s.bad)) != len(s.bad) {
		t.Error("dead letters are missing")
	}
}

// TestRabbitMQRestarts stops the broker while all requests sleep and starts it again:
// each has an answer then.
func TestRabbitMQRestarts(t *testing.T) {
	const count = 200
	b := brokertest.RunRabbitMQ(t)
	s := amqpSuite(t, b)
	sim := s.simulate(t, "stage 0s 2s")
	t.Setenv("ONLY_SEND", "1")
	s.ask(t, "restart", count)()
	sim.awaitInHand(requests, count)
	b.Stop()
	b.Start()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answers := make(map[string]bool)
	for _, id := range b.Drain(ctx, "/queue/restart", count) {
		answers[id] = true
	}
	if len(answers) != count {
		t.Errorf("%d distinct answers of %d\n%s", len(answers), count, sim.Logs())
	}
	sim.await(requests, map[string]int{"answered": count, "returned": count})
}
