// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// sender sends the answers of one broker, over a connection of its own.
//
// A bad address can cost the connection with all that is under way on it. So an
// address is attached to each connection by a first message: one address at a time,
// while messages to those that are attached go on. If the connection is lost
// meanwhile, that address gets into quarantine, and no other.
type sender struct {
	name     string // of the broker, in metrics and logs
	protocol broker.Protocol
	logger   *atomic.Pointer[zap.Logger]
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu          sync.Mutex // guards what follows
	conn        broker.Conn
	generation  int                  // of the connection
	attached    map[string]bool      // the addresses that a message has reached over it
	attaching   *answer              // the first one to its address; nil: there is none
	tooLong     *time.Timer          // of that
	waiting     map[string][]*answer // to attach their address
	order       []string             // of the addresses that wait
	backlog     []*answer            // for a connection
	quarantines map[string]*quarantine
	ended       bool
}

// answer is a message that is to be sent.
type answer struct {
	message *broker.Message
	// stale reports whether there is no more need for it, as its request comes again.
	stale func() bool
	// done is called with what became of it: nil, a broker.RefusedError, errStale or errEnded.
	done func(error)

	generation int // of the connection that it was sent on
}

var (
	errStale = errors.New("the request is not ours any more")
	errEnded = errors.New("the simulator has ended")
)

func newSender(name string, protocol broker.Protocol, logger *atomic.Pointer[zap.Logger]) *sender {
	s := &sender{
		name:        name,
		protocol:    protocol,
		logger:      logger,
		attached:    make(map[string]bool),
		waiting:     make(map[string][]*answer),
		quarantines: make(map[string]*quarantine),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(func() {
		keepConnected(s.ctx, s.protocol, s.log, connection{name, "answers"}, s.use)
	})
	return s
}

func (s *sender) log() *zap.Logger { return s.logger.Load() }

// end closes the connection. What is still to be sent is given up.
func (s *sender) end() {
	s.cancel()
	s.mu.Lock()
	s.ended = true
	left := append(s.backlog, s.takeWaiting()...)
	s.backlog = nil
	for _, q := range s.quarantines {
		left = append(left, q.answers...)
		q.answers = nil
	}
	s.mu.Unlock()
	for _, a := range left {
		a.done(errEnded)
	}
}

// use sends over a connection until it is lost.
func (s *sender) use(conn broker.Conn) error {
	s.mu.Lock()
	s.conn = conn
	s.generation++
	clear(s.attached)
	backlog := s.backlog
	s.backlog = nil
	s.mu.Unlock()
	for _, a := range backlog {
		s.send(a)
	}
	select {
	case <-conn.Done():
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	if s.conn == conn {
		s.conn = nil
	}
	s.backlog = append(s.backlog, s.takeWaiting()...)
	s.mu.Unlock()
	conn.Close()
	return conn.Err()
}

// dropStale gives up the answers that wait for a connection and are not needed any
// more.
func (s *sender) dropStale() {
	var stale []*answer
	s.mu.Lock()
	s.backlog = slices.DeleteFunc(s.backlog, func(a *answer) bool {
		if a.stale() {
			stale = append(stale, a)
			return true
		}
		return false
	})
	s.mu.Unlock()
	for _, a := range stale {
		a.done(errStale)
	}
}

// send sends an answer now or as soon as it can be sent, and never waits.
func (s *sender) send(a *answer) {
	if a.stale() {
		a.done(errStale)
		return
	}
	address := a.message.Address
	s.mu.Lock()
	switch q := s.quarantines[address]; {
	case s.ended:
		s.mu.Unlock()
		a.done(errEnded)
		return
	case q != nil && q.over():
		delete(s.quarantines, address)
	case q != nil && q.refused():
		reason := q.reason
		s.mu.Unlock()
		a.done(&broker.RefusedError{Reason: reason})
		return
	case q != nil:
		s.quarantine(address, a, nil)
		s.mu.Unlock()
		return
	}
	switch {
	case s.conn == nil || isDone(s.conn):
		s.backlog = append(s.backlog, a)
		s.mu.Unlock()
		return
	case s.attached[address]:
	case s.attaching != nil:
		s.wait(a)
		s.mu.Unlock()
		return
	default:
		s.attaching = a
		s.tooLong = time.AfterFunc(longestAttach, func() { s.giveUpAttaching(a) })
	}
	s.handOver(a)
}

// handOver passes an answer to the connection. It holds the lock, and lets it go.
func (s *sender) handOver(a *answer) {
	conn := s.conn
	a.generation = s.generation
	s.mu.Unlock()
	conn.Send(a.message, func(err error) { s.sent(conn, a, err) })
}

// sent is called by the connection with what became of an answer.
func (s *sender) sent(conn broker.Conn, a *answer, err error) {
	refused, isRefused := errors.AsType[*broker.RefusedError](err)
	address := a.message.Address
	s.mu.Lock()
	attaching := s.attaching == a
	if attaching {
		s.attaching = nil
		s.tooLong.Stop()
	}
	current := a.generation == s.generation
	again, doubted := false, isRefused && !isDone(conn)
	switch {
	case err == nil && current:
		if len(s.attached) >= mostAttached {
			clear(s.attached)
		}
		s.attached[address] = true
	case err == nil:
	case doubted:
		delete(s.attached, address)
	default:
		answerRetries.WithLabelValues(s.name).Inc()
		if current {
			delete(s.attached, address)
		}
		switch {
		case s.ended:
		case attaching, isRefused:
			s.quarantine(address, a, err)
			s.quarantines[address].answers = append(s.quarantines[address].answers, s.waiting[address]...)
			delete(s.waiting, address)
		case current && isDone(conn):
			s.conn = nil // use puts another in its place
			s.backlog = append(s.backlog, a)
		default:
			again = true
		}
	}
	var free []*answer // may be sent now
	if err == nil && current {
		free = s.waiting[address]
		delete(s.waiting, address)
	}
	if attaching {
		if next := s.next(); next != nil {
			free = append(free, next)
		}
	}
	ended := s.ended
	s.mu.Unlock()
	switch {
	case err == nil:
		a.done(nil)
	case doubted:
		time.AfterFunc(lossDelay, func() { s.believe(conn, a, refused) })
	case ended:
		a.done(errEnded)
	case again:
		s.send(a)
	}
	for _, a := range free {
		s.send(a)
	}
}

// believe takes a refusal for what it says if the connection has outlived it: a broker
// that ends refuses, too, before it closes its connections.
func (s *sender) believe(conn broker.Conn, a *answer, refused *broker.RefusedError) {
	if !isDone(conn) {
		a.done(refused)
		return
	}
	answerRetries.WithLabelValues(s.name).Inc()
	s.send(a)
}

func isDone(conn broker.Conn) bool {
	select {
	case <-conn.Done():
		return true
	default:
		return false
	}
}
