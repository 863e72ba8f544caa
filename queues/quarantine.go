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
	// aloneTimeout is how long it may take to make a connection for a single message, and
	// how often it is asked whether there is still need for one that is not confirmed.
	aloneTimeout = 10 * time.Second
	// lossDelay is how long it may take to show on a connection that the broker went away,
	// when something was refused or another connection lost.
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
		lost, err := s.sendAlone(a)
		if errors.Is(err, errStale) {
			a.done(err)
			continue
		}
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
		if lost && up && s.conn != nil && s.generation == before {
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

// sendAlone sends an answer over a connection of its own, and reports whether that was
// lost. A broker that says nothing has refused nothing: it may be short of memory, and
// takes later what it was sent. So it is waited for.
func (s *sender) sendAlone(a *answer) (lost bool, err error) {
	answerRetries.WithLabelValues(s.name).Inc()
	ctx, cancel := context.WithTimeout(s.ctx, aloneTimeout)
	defer cancel()
	conn, err := connect(ctx, s.protocol)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	sent := make(chan error, 1)
	conn.Send(a.message, func(err error) { sent <- err })
	ticker := time.NewTicker(aloneTimeout)
	defer ticker.Stop()
	for {
		select {
		case err := <-sent:
			return s.lostWith(conn, a, err), err
		case <-ticker.C:
			if a.stale() {
				return false, errStale
			}
		case <-s.ctx.Done():
			return false, errEnded
		}
	}
}

// lostWith reports whether a connection was lost with an answer, which may show a little
// later. If it was not, it is logged why the answer could not be sent.
func (s *sender) lostWith(conn broker.Conn, a *answer, err error) bool {
	if _, refused := errors.AsType[*broker.RefusedError](err); err == nil || refused {
		return false
	}
	timer := time.NewTimer(lossDelay)
	defer timer.Stop()
	select {
	case <-conn.Done():
		return true
	case <-s.ctx.Done():
	case <-timer.C:
		s.log().Warn("an answer could not be sent; trying again", zap.String("broker", s.name),
			zap.String("address", a.message.Address), zap.Error(err))
	}
	return false
}
