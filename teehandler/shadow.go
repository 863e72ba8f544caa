// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
)

// exchanger is one way to reach a shadow.
type exchanger interface {
	// exchange sends a copy and gives the status of the answer, which it has
	// read and thrown away.
	exchange(copied *snapshot, deadline time.Time) (status int, err error)

	// close gives up what is kept for further copies.
	close()
}

// maxShadowResponse is how much of a shadow's response body is read.
const maxShadowResponse = 8 << 20

// mostRest is how long a worker at most leaves a shadow alone whose answer was
// late. Such a shadow keeps all workers waiting, and without rests of different
// lengths they would all give up and connect again in the same moment, over and
// over, which the primary could feel.
const mostRest = 250 * time.Millisecond

// shadow is one of the systems that get copies.
type shadow struct {
	tee, name string
	exchanger exchanger
	queue     *queue
	metrics   *shadowMetrics
	logger    *zap.Logger
	troubles  *metrics.Throttle
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
	return nil
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

// accept takes a copy, or drops it if too many are waiting.
func (s *shadow) accept(copied *snapshot, deadline time.Time) {
	copied.share()
	if !s.queue.offer(job{copied: copied, deadline: deadline}) {
		copied.release()
		s.metrics.count(droppedQueue)
		s.trouble("dropping copies: too many are waiting", nil)
	}
}

// run brings one copy to its outcome.
func (s *shadow) run(j job) {
	defer j.copied.release()
	start := time.Now()
	if !start.Before(j.deadline) {
		s.metrics.count(timedOut)
		s.trouble("copy waited too long", nil)
		return
	}
	s.metrics.inFlight.Inc()
	status, err := s.contained(j)
	s.metrics.inFlight.Dec()
	if err != nil {
		failed := failedWith(err)
		s.metrics.count(failed)
		s.trouble("sending copy", err)
		if failed == timedOut {
			time.Sleep(rand.N(mostRest))
		}
		return
	}
	s.metrics.duration.Observe(time.Since(start).Seconds())
	s.metrics.count(sentWith(status))
}

// contained keeps a panic of the shadow's handlers from ending Caddy.
func (s *shadow) contained(j job) (status int, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return s.exchanger.exchange(j.copied, j.deadline)
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
