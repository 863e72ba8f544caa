// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// quarantine is an address that was attached when the connection was lost. What is for
// it is sent over connections that have nothing else.
type quarantine struct {
	answers  []*answer
	working  bool
	failures int
	reason   error
	until    time.Time // when it is forgotten
}

const (
	mostFailures = 3
	remembered   = 30 * time.Second
	// aloneTimeout is how long a connection for a single message may take.
	aloneTimeout = 10 * time.Second
	// lossDelay is how long the loss of such a connection may take to show on the other
	// one, if it is the broker that went away.
	lossDelay = 200 * time.Millisecond
)

func (q *quarantine) over() bool {
	return !q.working && len(q.answers) == 0 && time.Now().After(q.until)
}

func (q *quarantine) refused() bool { return q.failures >= mostFailures }

// quarantine has an answer sent over connections of its own. The lock is held.
func (s *sender) quarantine(address string, a *answer, reason error) {
	q := s.quarantines[address]
	if q == nil {
		maps.DeleteFunc(s.quarantines, func(_ string, other *quarantine) bool { return other.over() })
		q = &quarantine{reason: reason, until: time.Now().Add(remembered)}
		s.quarantines[address] = q
		s.log().Warn("the connection was lost while an address was used for the first time: it gets connections of its own",
			zap.String("broker", s.name), zap.String("address", address), zap.Error(reason))
	}
	q.answers = append(q.answers, a)
	if !q.working {
		q.working = true
		s.running.Go(func() {
			if err := broker.Guarded(func() { s.sendQuarantined(q) }); err != nil {
				s.log().Error("sending over connections with nothing else", zap.Error(err))
				s.mu.Lock()
				defer s.mu.Unlock()
				q.working = false
			}
		})
	}
}

// sendQuarantined sends what there is for an address in quarantine, each message over a
// connection of its own, until there is nothing more, or the quarantine is over.
func (s *sender) sendQuarantined(q *quarantine) {
	for pause := shortestPause; ; {
		s.mu.Lock()
		if len(q.answers) == 0 || s.ended || time.Now().After(q.until) {
			q.working = false
			left := q.answers
			q.answers = nil
			s.mu.Unlock()
			for _, a := range left {
				s.send(a)
			}
			return
		}
		a := q.answers[0]
		q.answers = q.answers[1:]
		before, up := s.generation, s.conn != nil
		s.mu.Unlock()
		if a.stale() {
			a.done(errStale)
			continue
		}
		connected, err := s.sendAlone(a)
		if refused, ok := errors.AsType[*broker.RefusedError](err); err == nil || ok {
			if ok {
				a.done(refused)
			} else {
				a.done(nil)
			}
			pause = shortestPause
			continue
		}
		pause = sleepFor(s.ctx, max(pause, lossDelay))
		s.mu.Lock()
		q.until = time.Now().Add(remembered)
		if connected && up && s.conn != nil && s.generation == before {
			q.failures++ // the other connection is up all the time: it is not the broker
			q.reason = fmt.Errorf("connections with nothing but a message for it were lost: %w", err)
		}
		var refused []*answer
		if q.refused() {
			refused, q.answers = append([]*answer{a}, q.answers...), nil
		} else {
			q.answers = append([]*answer{a}, q.answers...)
		}
		reason := q.reason
		s.mu.Unlock()
		for _, a := range refused {
			a.done(&broker.RefusedError{Reason: reason})
		}
	}
}

// sendAlone sends an answer over a connection of its own.
func (s *sender) sendAlone(a *answer) (connected bool, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, aloneTimeout)
	defer cancel()
	answerRetries.WithLabelValues(s.name).Inc()
	conn, err := connect(ctx, s.protocol)
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
		return true, fmt.Errorf("there was no answer within %s", aloneTimeout)
	}
}
