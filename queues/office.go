// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// office sends the answers of one broker, over a connection of its own.
//
// An address that nobody may have can cost the connection with all that is under
// way on it. So the first message to each address, on each connection, is a trial:
// one at a time, while messages to addresses that have passed go on. If the
// connection is lost, the address on trial is suspected, and no other.
type office struct {
	name     string // of the broker, in metrics and logs
	protocol broker.Protocol
	logger   *atomic.Pointer[zap.Logger]
	thinned  *metrics.Throttle
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu         sync.Mutex // guards what follows
	conn       broker.Conn
	generation int             // of the connection
	passed     map[string]bool // the addresses that have passed their trial on it
	trial      *answer
	waiting    map[string][]*answer // for a trial of their address
	order      []string             // of the addresses that wait
	backlog    []*answer            // for a connection
	suspects   map[string]*suspect
	ended      bool
}

// answer is a message that is to be sent.
type answer struct {
	message *broker.Message
	// stale reports whether there is no more need for it, as its request comes again.
	stale func() bool
	// done is told what became of it: nil, a broker.RefusedError, errStale or errEnded.
	done func(error)

	generation int // of the connection that it was sent on
}

var (
	errStale = errors.New("the request is not ours any more")
	errEnded = errors.New("the simulator has ended")
)

func newOffice(name string, protocol broker.Protocol, logger *atomic.Pointer[zap.Logger]) *office {
	o := &office{
		name:     name,
		protocol: protocol,
		logger:   logger,
		thinned:  metrics.NewThrottle(time.Second),
		passed:   make(map[string]bool),
		waiting:  make(map[string][]*answer),
		suspects: make(map[string]*suspect),
	}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.running.Go(func() {
		keepConnected(o.ctx, o.protocol, o.log, connection{name, "answers"}, o.use)
	})
	return o
}

func (o *office) log() *zap.Logger { return o.logger.Load() }

// end closes the connection. What is still to be sent is given up.
func (o *office) end() {
	o.cancel()
	o.mu.Lock()
	o.ended = true
	left := append(o.backlog, o.takeWaiting()...)
	o.backlog = nil
	for _, s := range o.suspects {
		left = append(left, s.answers...)
		s.answers = nil
	}
	o.mu.Unlock()
	for _, a := range left {
		a.done(errEnded)
	}
}

// use sends over a connection until it is lost.
func (o *office) use(conn broker.Conn) error {
	o.mu.Lock()
	o.conn = conn
	o.generation++
	clear(o.passed)
	backlog := o.backlog
	o.backlog = nil
	o.mu.Unlock()
	for _, a := range backlog {
		o.send(a)
	}
	select {
	case <-conn.Done():
	case <-o.ctx.Done():
	}
	o.mu.Lock()
	if o.conn == conn {
		o.conn = nil
	}
	o.backlog = append(o.backlog, o.takeWaiting()...)
	o.mu.Unlock()
	conn.Close()
	return conn.Err()
}

// send sends an answer now or as soon as it can be sent, and never waits.
func (o *office) send(a *answer) {
	if a.stale() {
		a.done(errStale)
		return
	}
	address := a.message.Address
	o.mu.Lock()
	switch s := o.suspects[address]; {
	case o.ended:
		o.mu.Unlock()
		a.done(errEnded)
		return
	case s != nil && s.over(time.Now()):
		delete(o.suspects, address)
	case s != nil && s.refused():
		reason := s.reason
		o.mu.Unlock()
		a.done(&broker.RefusedError{Reason: reason})
		return
	case s != nil:
		o.suspect(address, a, nil)
		o.mu.Unlock()
		return
	}
	switch {
	case o.conn == nil || isDone(o.conn):
		o.backlog = append(o.backlog, a)
		o.mu.Unlock()
		return
	case o.passed[address]:
	case o.trial != nil:
		o.wait(a)
		o.mu.Unlock()
		return
	default:
		o.trial = a
		time.AfterFunc(longestTrial, func() { o.giveUpTrial(a) })
	}
	o.handOver(a)
}

// handOver passes an answer to the connection. It holds the lock, and lets it go.
func (o *office) handOver(a *answer) {
	conn := o.conn
	a.generation = o.generation
	o.mu.Unlock()
	conn.Send(a.message, func(err error) { o.sent(conn, a, err) })
}

// sent is told what became of an answer.
func (o *office) sent(conn broker.Conn, a *answer, err error) {
	refused, isRefused := errors.AsType[*broker.RefusedError](err)
	address := a.message.Address
	o.mu.Lock()
	onTrial := o.trial == a
	if onTrial {
		o.trial = nil
	}
	current := a.generation == o.generation
	again := false
	switch {
	case err == nil && current:
		if len(o.passed) >= mostPassed {
			clear(o.passed)
		}
		o.passed[address] = true
	case err == nil:
	case isRefused:
		delete(o.passed, address)
	default:
		answerRetries.WithLabelValues(o.name).Inc()
		if current {
			delete(o.passed, address)
		}
		switch {
		case o.ended:
		case onTrial:
			o.suspect(address, a, err)
			o.suspects[address].answers = append(o.suspects[address].answers, o.waiting[address]...)
			delete(o.waiting, address)
		case current && isDone(conn):
			o.conn = nil // use puts another in its place
			o.backlog = append(o.backlog, a)
		default:
			again = true
		}
	}
	var free []*answer // may be sent now
	if err == nil && current {
		free = o.waiting[address]
		delete(o.waiting, address)
	}
	if onTrial {
		if next := o.next(); next != nil {
			free = append(free, next)
		}
	}
	ended := o.ended
	o.mu.Unlock()
	switch {
	case err == nil:
		a.done(nil)
	case isRefused:
		a.done(refused)
	case ended:
		a.done(errEnded)
	case again:
		o.send(a)
	}
	for _, a := range free {
		o.send(a)
	}
}

func isDone(conn broker.Conn) bool {
	select {
	case <-conn.Done():
		return true
	default:
		return false
	}
}
