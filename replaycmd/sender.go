// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/follow"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// line is what leads to one target.
type line struct {
	delivery    *delivery
	number      int // of the target
	dialer      *send.Dialer
	collector   *report.Collector
	firstErrors firstErrors
	sent        atomic.Int64 // requests, if each target has its own pace, and consumers
}

// NewSender opens no connection before the first message.
func (l *line) NewSender(ctx context.Context) schedule.Sender[message] {
	s := &sender{line: l, client: send.NewClient(ctx, l.dialer), batch: l.collector.NewBatch()}
	if s.exchange = l.delivery.capturing.newExchange(l.number); s.exchange != nil {
		s.client.Capture = s.exchange.response
	}
	s.changer = l.delivery.newChanger(l.number, s.client)
	return s
}

// Skip counts a request that was due at a time and is not started.
func (l *line) Skip(m *message, due time.Duration) {
	if due -= l.delivery.schedule.Warmup; due >= 0 {
		l.collector.AddUnsent(due)
	}
	if m.step != nil {
		m.step.Failed(l.number, time.Now())
	}
}

// Check decides whether a message can be sent, or waits for the answer to another.
// One that needs what was in no answer is counted and not sent.
func (l *line) Check(m *message, again func()) (schedule.Decision, time.Duration) {
	verdict, due := m.step.Check(l.number, again)
	switch verdict {
	case follow.Wait:
		return schedule.Hold, 0
	case follow.Unlinked:
		if at := l.delivery.run.Elapsed() - l.delivery.schedule.Warmup; at >= 0 {
			l.collector.AddUnlinked(at, m.class)
		}
		return schedule.Drop, 0
	case follow.Send:
	}
	if due.IsZero() {
		return schedule.Go, 0
	}
	return schedule.Go, due.Sub(l.delivery.run.Began())
}

// sender is one connection of a line.
type sender struct {
	*line
	client   *send.Client
	batch    *report.Batch
	exchange *exchange // nil without consumers
	changer  *changer  // nil: requests go as they were recorded
}

// Send sends a message and counts what became of it, from the end of the warm-up
// on.
func (s *sender) Send(m *message, start schedule.Start) {
	defer s.recovered(m, start)
	warmup := s.delivery.schedule.Warmup
	start.Due, start.Started = start.Due-warmup, start.Started-warmup
	sample := report.Sample{
		Due: start.Due, Started: start.Started, Busy: start.Busy, Waited: start.Waited, Class: m.class, Truncated: m.Truncated,
	}
	response, outgoing, err := send.Response{Ended: start.At}, &m.Message, m.bad
	if err == nil && s.changer != nil {
		outgoing, err = s.changer.write(m, start)
	}
	if err != nil {
		sample.Ended = sample.Started
	} else {
		response, err = s.client.Send(outgoing, start.At)
		sample.Ended = start.Started + response.Ended.Sub(start.At)
		if s.delivery.by == report.ByStatus {
			sample.Class = report.ByStatusOf(response.Status, response.GRPC)
		}
		if err == nil {
			sample.Status, sample.Sent, sample.Received = response.Status, response.Sent, response.Received
			if response.Date != 0 {
				sample.AheadLeast, sample.AheadMost = report.DateBounds(response.Date, start.At, response.Ended)
			}
		}
	}
	if m.step != nil {
		s.changer.answered(m.step, &response, err)
	}
	if start.Warm {
		if err != nil && s.delivery.stopAtFailure && http1.KindOf(err) != http1.Interrupted {
			s.fail(http1.KindOf(err), err)
		}
		return
	}
	if s.exchange != nil {
		s.pass(m, start, &response, err)
	}
	if err == nil {
		s.batch.Add(sample)
		return
	}
	kind := http1.KindOf(err)
	sample.Failure = kind.String()
	s.batch.Add(sample)
	if kind != http1.Interrupted {
		s.fail(kind, err)
	}
}

// recovered is deferred while a message is sent: what a response can do wrong costs
// its connection and counts as malformed, but does not end the run.
func (s *sender) recovered(m *message, start schedule.Start) {
	value := recover()
	if value == nil {
		return
	}
	s.client.Close()
	if m.step != nil {
		m.step.Failed(s.number, time.Now())
	}
	warmup := s.delivery.schedule.Warmup
	if !start.Warm {
		s.batch.Add(report.Sample{
			Due: start.Due - warmup, Started: start.Started - warmup, Ended: s.delivery.run.Elapsed() - warmup,
			Class: m.class, Failure: http1.Malformed.String(),
		})
	}
	s.fail(http1.Malformed, faultOf(value))
}

// mayFail is deferred by what only shows how far a run is: if that panics it ends,
// and the run goes on.
func mayFail() { _ = recover() }

// faultOf returns what code panicked with as an error: a fault of ours, with where
// it is.
func faultOf(value any) error {
	return fmt.Errorf("a fault of Rehearsal, please report it: %v\n%s", value, debug.Stack())
}

// pass passes what became of a message to the consumers.
func (s *sender) pass(m *message, start schedule.Start, response *send.Response, err error) {
	x := s.exchange
	x.number, x.record = m.number, &m.record.Request
	if s.delivery.ownPace() {
		x.number = s.sent.Add(1)
	}
	if m.bad != nil {
		x.response.Reset()
	}
	x.status, x.bodySize, x.err = response.Status, response.BodySize, err
	x.started, x.ended = start.At, response.Ended
	s.delivery.capturing.pass(x)
}

// fail keeps the first error of its kind, and ends a run that is to end with it.
func (s *sender) fail(kind http1.Kind, err error) {
	s.firstErrors.note(kind, err)
	if d := s.delivery; d.stopAtFailure && d.first.CompareAndSwap(nil, &err) {
		d.stop()
	}
}

// Close closes the connection.
func (s *sender) Close() { s.client.Close() }

// firstErrors are the first failures of each kind: one says more of its kind than
// a number does.
type firstErrors [http1.Kinds]atomic.Pointer[error]

// note keeps an error if it is the first of its kind.
func (f *firstErrors) note(kind http1.Kind, err error) {
	if first := &f[kind]; first.Load() == nil {
		first.CompareAndSwap(nil, &err)
	}
}

// all returns what was kept, by kind.
func (f *firstErrors) all() (errs []error) {
	for i := range f {
		if err := f[i].Load(); err != nil {
			errs = append(errs, *err)
		}
	}
	return errs
}
