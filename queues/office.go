// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	logger   atomic.Pointer[zap.Logger]
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

// mostPassed is how many addresses of a connection are remembered to have passed.
const mostPassed = 10_000

func newOffice(name string, protocol broker.Protocol, logger *zap.Logger) *office {
	o := &office{
		name:     name,
		protocol: protocol,
		thinned:  metrics.NewThrottle(time.Second),
		passed:   make(map[string]bool),
		waiting:  make(map[string][]*answer),
		suspects: make(map[string]*suspect),
	}
	o.logger.Store(logger)
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.running.Go(func() {
		keepConnected(o.ctx, o.protocol, o.log, connection{name, "answers"}, o.use)
	})
	return o
}

func (o *office) log() *zap.Logger { return o.logger.Load() }

// Destruct closes the connection. What is still to be sent is given up.
func (o *office) Destruct() error {
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
	return nil
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

// takeWaiting returns all that waits for a trial, which then no longer waits. The
// lock is held.
func (o *office) takeWaiting() (all []*answer) {
	for _, address := range o.order {
		all = append(all, o.waiting[address]...)
	}
	clear(o.waiting)
	o.order = nil
	return all
}

// wait has an answer wait for the trial of its address. The lock is held.
func (o *office) wait(a *answer) {
	address := a.message.Address
	if o.waiting[address] == nil {
		o.order = append(o.order, address)
	}
	o.waiting[address] = append(o.waiting[address], a)
}

// next returns the answer that is to be on trial next; nil if none waits. The lock
// is held.
func (o *office) next() *answer {
	for len(o.order) > 0 {
		address := o.order[0]
		o.order = o.order[1:]
		list := o.waiting[address]
		delete(o.waiting, address)
		if len(list) == 0 {
			continue
		}
		if len(list) > 1 {
			o.order = append(o.order, address)
			o.waiting[address] = list[1:]
		}
		return list[0]
	}
	return nil
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

// longestTrial is how long an address may keep others from their trial. A broker
// that holds back one queue does not refuse it.
const longestTrial = 10 * time.Second

// giveUpTrial goes on with the next address. The answer is still under way.
func (o *office) giveUpTrial(a *answer) {
	o.mu.Lock()
	var next *answer
	if o.trial == a {
		o.trial = nil
		next = o.next()
	}
	o.mu.Unlock()
	if next != nil {
		o.send(next)
	}
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

// Pauses between attempts to connect.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// sleepFor waits for about as long as it is told, and returns how long to wait the
// next time.
func sleepFor(ctx context.Context, pause time.Duration) time.Duration {
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return min(2*pause, longestPause)
}

// connection is what metrics and logs call a connection.
type connection struct{ broker, role string }

// keepConnected connects again and again until the context ends, and has each
// connection used until it is lost.
func keepConnected(ctx context.Context, protocol broker.Protocol, log func() *zap.Logger, name connection, use func(broker.Conn) error) {
	up := connected.WithLabelValues(name.broker, name.role)
	up.Set(0)
	defer connected.DeleteLabelValues(name.broker, name.role)
	fields := []zap.Field{zap.String("broker", name.broker), zap.String("place", protocol.Place()), zap.String("connection", name.role)}
	pause, before, failing := shortestPause, false, false
	for ctx.Err() == nil {
		conn, err := connect(ctx, protocol)
		if err == nil {
			if before {
				reconnects.WithLabelValues(name.broker).Inc()
			}
			before, failing = true, false
			up.Set(1)
			log().Info("connected", fields...)
			began := time.Now()
			var lost error
			if panicked := broker.Guarded(func() { lost = use(conn) }); panicked != nil {
				lost = panicked
				conn.Close()
			}
			up.Set(0)
			if ctx.Err() != nil {
				return
			}
			log().Warn("connection lost", append(slices.Clip(fields), zap.Error(lost))...)
			if time.Since(began) > longestPause {
				pause = shortestPause
			}
		} else if ctx.Err() == nil && !failing {
			failing = true // once until it is up again
			log().Warn("cannot connect; trying again", append(slices.Clip(fields), zap.Error(err))...)
		}
		pause = sleepFor(ctx, pause)
	}
}

// connecting is how long a connection may take.
const connecting = 15 * time.Second

func connect(ctx context.Context, protocol broker.Protocol) (conn broker.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	if panicked := broker.Guarded(func() { conn, err = protocol.Connect(ctx) }); panicked != nil {
		return nil, panicked
	}
	return conn, err
}
