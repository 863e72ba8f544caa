// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// suspect is an address whose trial has cost a connection. What is for it is sent
// over connections that have nothing else.
type suspect struct {
	answers  []*answer
	working  bool
	failures int
	reason   error
	until    time.Time // when it is forgotten
}

const (
	mostFailures = 3
	remembered   = 30 * time.Second
	// alone is how long a connection for a single message is waited for.
	alone = 10 * time.Second
	// settling is how long the loss of such a connection may take to show on the other
	// one, if it is the broker that went away.
	settling = 200 * time.Millisecond
)

func (s *suspect) over(now time.Time) bool {
	return !s.working && len(s.answers) == 0 && now.After(s.until)
}

func (s *suspect) refused() bool { return s.failures >= mostFailures }

// suspect has an answer sent over connections of its own. The lock is held.
func (o *office) suspect(address string, a *answer, reason error) {
	s := o.suspects[address]
	if s == nil {
		s = &suspect{reason: reason}
		o.suspects[address] = s
		o.log().Warn("the connection was lost while an address was tried for the first time: it is tried alone",
			zap.String("broker", o.name), zap.String("address", address), zap.Error(reason))
	}
	s.until = time.Now().Add(remembered)
	s.answers = append(s.answers, a)
	if !s.working {
		s.working = true
		o.running.Go(func() { o.tryAlone(address, s) })
	}
}

// tryAlone sends what there is for an address, each message over a connection of
// its own, until the address has failed too often.
func (o *office) tryAlone(address string, s *suspect) {
	for pause := shortestPause; ; {
		o.mu.Lock()
		if len(s.answers) == 0 || o.ended {
			s.working = false
			left := s.answers
			s.answers = nil
			o.mu.Unlock()
			for _, a := range left {
				a.done(errEnded)
			}
			return
		}
		a := s.answers[0]
		s.answers = s.answers[1:]
		before, up := o.generation, o.conn != nil
		o.mu.Unlock()
		if a.stale() {
			a.done(errStale)
			continue
		}
		connected, err := o.sendAlone(a)
		if refused, ok := errors.AsType[*broker.RefusedError](err); err == nil || ok {
			if ok {
				a.done(refused)
			} else {
				a.done(nil)
			}
			pause = shortestPause
			continue
		}
		pause = sleepFor(o.ctx, max(pause, settling))
		o.mu.Lock()
		s.until = time.Now().Add(remembered)
		if connected && up && o.conn != nil && o.generation == before {
			s.failures++ // the other connection is up all the time: it is not the broker
			s.reason = fmt.Errorf("connections with nothing but a message for it were lost: %w", err)
		}
		var refused []*answer
		if s.refused() {
			refused, s.answers = append([]*answer{a}, s.answers...), nil
		} else {
			s.answers = append([]*answer{a}, s.answers...)
		}
		reason := s.reason
		o.mu.Unlock()
		for _, a := range refused {
			a.done(&broker.RefusedError{Reason: reason})
		}
	}
}

// sendAlone sends an answer over a connection of its own.
func (o *office) sendAlone(a *answer) (connected bool, err error) {
	ctx, cancel := context.WithTimeout(o.ctx, alone)
	defer cancel()
	answerRetries.WithLabelValues(o.name).Inc()
	conn, err := o.protocol.Connect(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	sent := make(chan error, 1)
	conn.Send(a.message, func(err error) { sent <- err })
	select {
	case err := <-sent:
		return true, err
	case <-ctx.Done():
		return true, fmt.Errorf("there was no answer within %s", alone)
	}
}
