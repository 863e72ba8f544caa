// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/teehandler/internal/comparison"
)

// exchanger is one way to reach a shadow.
type exchanger interface {
	// exchange sends a copy and returns the status of the response, which it has
	// read and thrown away, unless it is kept.
	exchange(copied *snapshot, deadline time.Time, kept *keptResponse) (status int, err error)

	// close ends what is kept for further copies, such as idle connections.
	close()
}

// maxShadowResponse is how much of a shadow's response body is read.
const maxShadowResponse = 8 << 20

// mostRest is how long a worker at most leaves a shadow alone whose response was
// late. Such a shadow keeps all workers waiting, and without rests of different
// lengths they would all give up and connect again in the same moment, over and
// over, which the primary could feel.
const mostRest = 250 * time.Millisecond

// shadow is one of the systems that get copies.
type shadow struct {
	tee, name  string
	side       pairs.Side             // in comparisons
	comparison *comparison.Comparison // nil: there are none
	exchanger  exchanger
	queue      *queue
	metrics    *shadowMetrics
	logger     *zap.Logger
	troubles   *metrics.Throttle
}

// provisionShadows makes the shadows of the configuration.
func (h *Handler) provisionShadows(ctx caddy.Context, repl *caddy.Replacer) error {
	trust, err := h.tlsConfig(ctx)
	if err != nil {
		return fmt.Errorf("tls: %v", err)
	}
	for _, to := range h.To {
		address, err := repl.ReplaceOrErr(to, true, true)
		if err != nil {
			return fmt.Errorf("shadow '%s': %v", to, err)
		}
		byURL, err := h.newURLShadow(address, trust)
		if err != nil {
			return fmt.Errorf("shadow '%s': %v", address, err)
		}
		h.addShadow(address, byURL)
	}
	for i, routes := range h.Handle {
		if err := routes.Provision(ctx); err != nil {
			return fmt.Errorf("handle: %v", err)
		}
		name := "handle"
		if i > 0 {
			name = fmt.Sprintf("handle_%d", i+1)
		}
		h.addShadow(name, newHandleShadow(routes))
	}
	if h.Compare == nil {
		return nil
	}
	return h.addNoise(repl, trust)
}

func (h *Handler) addShadow(name string, e exchanger) {
	s := &shadow{
		tee:       h.name,
		name:      name,
		exchanger: e,
		metrics:   newShadowMetrics(h.name, name),
		logger:    h.logger,
		troubles:  metrics.NewThrottle(time.Minute),
	}
	s.queue = &queue{run: s.run, workers: h.concurrency(), waiting: defaultQueue, gauge: s.metrics.queued}
	if h.Queue != nil {
		s.queue.waiting = *h.Queue
	}
	h.shadows = append(h.shadows, s)
}

func (h *Handler) concurrency() int {
	if h.Concurrency == 0 {
		return defaultConcurrency
	}
	return h.Concurrency
}

// unfinished counts the copies of all tees that were accepted and have no outcome
// yet, those of replaced configurations included.
var unfinished atomic.Int64

// longestTimeout is the longest timeout of any tee so far, in nanoseconds.
var longestTimeout atomic.Int64

// exitGrace is how much longer than their timeout Caddy waits for copies when it
// exits: handlers of a shadow may take a while to notice the end of it.
const exitGrace = time.Second

func init() {
	lifecycle.Drain(func() {
		awaitCopies()
		comparison.Finish()
	})
}

// awaitCopies waits at the end of the process until every copy has its outcome
// and every conversation is added, whichever configuration has accepted it.
func awaitCopies() {
	patience := time.Duration(longestTimeout.Load()) + mostRest + exitGrace
	for deadline := time.Now().Add(patience); unfinished.Load()+conversing.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			caddy.Log().Named("http.handlers.tee").Error("exiting although handlers have not come to an end",
				zap.Int64("copies_without_outcome", unfinished.Load()),
				zap.Int64("conversations_not_recorded", conversing.Load()))
			return
		}
	}
}

// accept takes a copy, or drops it if too many are waiting.
func (s *shadow) accept(copied *snapshot, deadline time.Time) {
	copied.share()
	unfinished.Add(1)
	if !s.queue.offer(job{copied: copied, deadline: deadline}) {
		s.trouble("dropping copies: too many are waiting", nil)
		s.metrics.count(droppedQueue)
		copied.exchange.Fail(s.side, outcomeNames[droppedQueue])
		copied.release()
		unfinished.Add(-1)
	}
}

// run sends a copy, and leaves the shadow alone for a while if it was late.
func (s *shadow) run(j job) {
	if late := s.send(j); late {
		time.Sleep(rand.N(mostRest))
	}
}

// send brings one copy to its outcome and reports whether the shadow was late.
func (s *shadow) send(j job) (late bool) {
	defer unfinished.Add(-1)
	defer j.copied.release()
	start := time.Now()
	if !start.Before(j.deadline) {
		s.trouble("copy waited too long", nil)
		s.metrics.count(timedOut)
		j.copied.exchange.Fail(s.side, outcomeNames[timedOut])
		return false
	}
	s.metrics.inFlight.Inc()
	kept := s.keeps(j.copied)
	status, err := s.contained(j, kept)
	s.metrics.inFlight.Dec()
	if kept != nil {
		s.hand(j.copied.exchange, kept, start, err)
	}
	if err != nil {
		failed := failedWith(err)
		s.trouble("sending copy", err)
		s.metrics.count(failed)
		return failed == timedOut
	}
	s.metrics.duration.Observe(time.Since(start).Seconds())
	s.metrics.count(sentWith(status))
	return false
}

// contained keeps a panic of the shadow's handlers from ending Caddy.
func (s *shadow) contained(j job, kept *keptResponse) (status int, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return s.exchanger.exchange(j.copied, j.deadline, kept)
}

// retire lets what was accepted finish, and then closes the connections.
func (s *shadow) retire() { s.queue.retire(s.exchanger.close) }

// trouble logs, once a minute, that copies do not arrive.
func (s *shadow) trouble(message string, err error) {
	more, ok := s.troubles.Allow()
	if !ok {
		return
	}
	fields := []zap.Field{
		zap.String("tee", s.tee),
		zap.String("shadow", s.name),
		zap.Int64("more_since_last_warning", more),
	}
	if err != nil {
		fields = append(fields, zap.Error(err))
	}
	if p, ok := err.(*panicError); ok { //nolint:errorlint // never wrapped
		fields = append(fields, zap.ByteString("stack", p.stack))
	}
	s.logger.Warn(message, fields...)
}

// panicError is a panic of a shadow's handlers.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }
