// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/follow"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// delivery makes messages of records, has them sent to the targets when they are
// due, and collects what becomes of them.
type delivery struct {
	records interface {
		Next() (*recording.Request, error)
	}
	same        bool // all records are one and the same
	schedule    schedule.Schedule
	targets     []send.Target
	hidden      int // of the targets, those at the end that are in no figure
	connections int
	requests    int64
	duration    time.Duration

	rewriter      send.Rewriter
	options       send.Options
	by            report.By
	classes       *report.Classes
	rows          func(target int, row report.Row) // gets the seconds of each target, unless it is nil
	stopAtFailure bool
	stopReading   func()
	capturing     capturing
	inStep        bool         // also where all records are the same: what one target answers belongs to what another does
	changing      *changing    // nil: requests go as they were recorded
	mine          *shardFilter // nil: all requests are sent from here

	read  int64 // records, unless every target has its own pace
	run   schedule.Run[message]
	lines []*line
	stop  context.CancelFunc
	first atomic.Pointer[error] // the first failure, with stopAtFailure
}

// message is what is sent of a record.
type message struct {
	send.Message
	class   int
	written bool
	bad     error // why it can't be sent

	number int64          // of the record, unless every target has its own pace
	record recording.Copy // for consumers, and for those that change it
	step   *follow.Step   // nil: conversations are not followed
}

// maxMessageKept is the memory beyond which a message isn't kept for another.
const maxMessageKept = 1 << 20

// shrink drops memory that is more than a message usually needs.
func (m *message) shrink() {
	m.step = nil
	if m.size() > maxMessageKept {
		*m = message{}
	}
}

func (m *message) size() int { return m.Message.Size() + m.record.Size() }

// prepare makes ready what can be made ready before the first request.
func (d *delivery) prepare() {
	d.run = schedule.Run[message]{
		Next: d.next, Size: (*message).size, Same: d.ownPace(), Schedule: d.schedule,
		Connections: d.connections, Requests: d.requests, StopReading: d.stopReading,
		Holding: d.changing.follows(),
	}
	if d.duration > 0 {
		d.run.Duration = d.schedule.Warmup + d.duration
	}
	for i, target := range d.targets {
		var rows func(report.Row)
		if d.rows != nil && i < d.counted() {
			rows = func(row report.Row) { d.rows(i, row) }
		}
		l := &line{delivery: d, number: i, dialer: send.NewDialer(target, d.options), collector: report.NewCollector(rows)}
		d.lines = append(d.lines, l)
		d.run.Targets = append(d.run.Targets, l)
	}
	if d.inStep {
		d.run.Ahead = max(leastAhead, 2*d.connections)
	}
	if !d.same { // or what is sent over and over would have to be written anew
		d.run.Done = (*message).shrink
	}
	d.run.Prepare()
}

// leastAhead is how many requests a target may be ahead where targets keep in step
// over few connections.
const leastAhead = 64

// ownPace reports whether each target gets its requests however far others are.
func (d *delivery) ownPace() bool { return d.same && !d.inStep && d.mine == nil }

// counted returns how many targets figures are about.
func (d *delivery) counted() int { return len(d.targets) - d.hidden }

// next makes a message of the next record. One that cannot even be refused ends
// reading.
func (d *delivery) next(m *message) (recordedNS int64, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = faultOf(value)
		}
	}()
	record, err := d.records.Next()
	if err != nil {
		return 0, err
	}
	if d.mine != nil && !d.mine.has(record) {
		return record.TimeNS, schedule.ErrElsewhere
	}
	if !m.written || !d.same {
		m.bad = d.rewriter.Write(&m.Message, record)
		m.class = d.classes.Of(record.Method, record.URI)
		m.written = true
		if d.capturing.needed() || d.changing != nil {
			d.capturing.keep(m, record)
		}
		if d.changing.follows() {
			m.step = d.changing.follow.Next(record, d.changing.pass())
		}
	}
	if !d.ownPace() {
		d.read++
		m.number = d.read
	}
	return record.TimeNS, nil
}

// send sends all that is to be sent, until it is done or ctx ends, and waits for
// the responses. What ends with ctx counts as interrupted. The error is that of
// the source, or with stopAtFailure the first failure.
func (d *delivery) send(ctx context.Context) ([]report.Result, error) {
	ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	ended := d.tick()
	err := d.run.Send(ctx)
	ended()
	results := make([]report.Result, d.counted())
	for i, l := range d.lines[:d.counted()] {
		results[i] = report.Result{
			Name: d.targets[i].Name, URL: d.targets[i].URL, Connections: l.dialer.Opened(), Totals: l.collector.Finish(),
		}
	}
	if first := d.first.Load(); first != nil {
		err = *first
	}
	return results, err
}

// tick passes on the seconds of the run until the function that it returns is
// called.
func (d *delivery) tick() (end func()) {
	if d.rows == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer mayFail()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				for _, l := range d.lines {
					l.collector.Tick(max(0, d.run.Elapsed()-d.schedule.Warmup))
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// counts returns the requests that have ended at all targets and the errors
// among them, while the run goes on.
func (d *delivery) counts() (requests, errors int64) {
	for _, l := range d.lines[:d.counted()] {
		n, e := l.collector.Counts()
		requests += n
		errors += e
	}
	return requests, errors
}
