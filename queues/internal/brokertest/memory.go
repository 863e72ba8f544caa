// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// Memory is a broker that is spoken to without a socket, for tests whose time is that
// of testing/synctest.
type Memory struct {
	// Attach is asked what becomes of an address that is attached on a connection, of
	// which the first one is 1; nil: Succeeds.
	Attach func(conn int, address string) Outcome

	// Sent is called with each message that comes, one at a time; it is confirmed then,
	// unless Confirm is there.
	Sent func(*broker.Message)

	// Confirm is asked what becomes of a message that comes over a connection. One that
	// IsIgnored waits for Settle, or for the end of the connection.
	Confirm func(conn int, m *broker.Message) Outcome

	// Down is whether no further connection can be made.
	Down atomic.Bool

	mu     sync.Mutex
	last   int // number of a connection
	conns  map[*memoryConn]bool
	queues map[string][]*broker.Delivery
	subs   map[string]*memorySub
	held   []heldMessage
}

// heldMessage is a message that is not confirmed.
type heldMessage struct {
	conn    *memoryConn
	address string
	done    func(error)
}

// Outcome is what becomes of an address that is attached, or of a message.
type Outcome int

// The outcomes.
const (
	Succeeds Outcome = iota
	IsRefused
	LosesConnection
	IsRefusedAndLosesConnection
	IsIgnored
)

// NewMemory returns a broker.
func NewMemory() *Memory {
	return &Memory{conns: make(map[*memoryConn]bool), queues: make(map[string][]*broker.Delivery), subs: make(map[string]*memorySub)}
}

// Place implements broker.Protocol.
func (*Memory) Place() string { return "memory" }

// Key implements broker.Protocol.
func (*Memory) Key() string { return "memory" }

// Shares implements broker.Protocol.
func (*Memory) Shares() bool { return true }

// Connections returns how many connections there were, and how many there are.
func (b *Memory) Connections() (ever, now int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last, len(b.conns)
}

// Receiver returns the number of the connection over which an address is received
// from; 0: it is not.
func (b *Memory) Receiver(address string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.subs[address]; s != nil {
		return s.conn.number
	}
	return 0
}

// Lose has a connection lost.
func (b *Memory) Lose(number int) {
	b.mu.Lock()
	var lost *memoryConn
	for c := range b.conns {
		if c.number == number {
			lost = c
		}
	}
	b.mu.Unlock()
	lost.end(errors.New("the connection was lost"))
}

// Put puts a request into the queue of its address.
func (b *Memory) Put(d *broker.Delivery) {
	b.mu.Lock()
	b.queues[d.Address] = append(b.queues[d.Address], d)
	b.mu.Unlock()
	b.pump(d.Address)
}

func (b *Memory) pump(address string) {
	for {
		b.mu.Lock()
		s := b.subs[address]
		if s == nil || s.credit == 0 || len(b.queues[address]) == 0 {
			b.mu.Unlock()
			return
		}
		d := b.queues[address][0]
		b.queues[address] = b.queues[address][1:]
		s.credit--
		s.unsettled[d] = true
		b.mu.Unlock()
		s.source.Deliver(s, d)
	}
}

// Connect implements broker.Protocol.
func (b *Memory) Connect(context.Context) (broker.Conn, error) {
	if b.Down.Load() {
		return nil, errors.New("the broker is down")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	c := &memoryConn{b: b, number: b.last, done: make(chan struct{})}
	b.conns[c] = true
	return c, nil
}

type memoryConn struct {
	b      *Memory
	number int
	done   chan struct{}
	once   sync.Once
	err    error
}

func (c *memoryConn) end(err error) {
	c.once.Do(func() {
		c.b.mu.Lock()
		delete(c.b.conns, c)
		for _, s := range c.b.subs {
			if s.conn == c {
				s.giveBack()
			}
		}
		c.b.mu.Unlock()
		c.err = err
		close(c.done)
		c.b.settle(func(h heldMessage) bool { return h.conn == c }, broker.ErrLost)
	})
}

func (c *memoryConn) Close()                { c.end(errors.New("closed")) }
func (c *memoryConn) Done() <-chan struct{} { return c.done }
func (c *memoryConn) Err() error            { return c.err }

func (c *memoryConn) Send(m *broker.Message, done func(error)) {
	c.b.mu.Lock()
	if !c.b.conns[c] {
		c.b.mu.Unlock()
		done(broker.ErrLost)
		return
	}
	if c.b.Sent != nil {
		c.b.Sent(m)
	}
	outcome := Succeeds
	if c.b.Confirm != nil {
		outcome = c.b.Confirm(c.number, m)
	}
	if outcome == IsIgnored {
		c.b.held = append(c.b.held, heldMessage{c, m.Address, done})
	}
	c.b.mu.Unlock()
	switch outcome {
	case Succeeds:
		done(nil)
	case IsRefused:
		done(&broker.RefusedError{Reason: errors.New("there is no such address")})
	case LosesConnection:
		c.end(errors.New("the broker closed the connection"))
		done(broker.ErrLost)
	case IsRefusedAndLosesConnection:
		c.end(errors.New("the broker closed the connection"))
		done(&broker.RefusedError{Reason: errors.New("the broker is ending")})
	case IsIgnored:
	}
}

// Settle confirms the messages to an address that were ignored, or refuses them.
func (b *Memory) Settle(address string, err error) {
	b.settle(func(h heldMessage) bool { return h.address == address }, err)
}

func (b *Memory) settle(these func(heldMessage) bool, err error) {
	var settled, left []heldMessage
	b.mu.Lock()
	for _, h := range b.held {
		if these(h) {
			settled = append(settled, h)
		} else {
			left = append(left, h)
		}
	}
	b.held = left
	b.mu.Unlock()
	for _, h := range settled {
		h.done(err)
	}
}

func (c *memoryConn) Receive(ctx context.Context, source broker.Source) (broker.Subscription, error) {
	outcome := Succeeds
	if c.b.Attach != nil {
		outcome = c.b.Attach(c.number, source.Address)
	}
	switch outcome {
	case Succeeds:
	case IsRefused:
		return nil, errors.New("there is no such address")
	case LosesConnection, IsRefusedAndLosesConnection:
		err := errors.New("the broker closed the connection")
		c.end(err)
		return nil, err
	case IsIgnored:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := &memorySub{conn: c, source: source, credit: source.Credit, unsettled: make(map[*broker.Delivery]bool)}
	c.b.mu.Lock()
	c.b.subs[source.Address] = s
	c.b.mu.Unlock()
	c.b.pump(source.Address)
	return s, nil
}

type memorySub struct {
	conn      *memoryConn
	source    broker.Source
	credit    int
	unsettled map[*broker.Delivery]bool
}

// giveBack returns what is not settled to its queue. The lock is held.
func (s *memorySub) giveBack() {
	if s.conn.b.subs[s.source.Address] != s {
		return
	}
	delete(s.conn.b.subs, s.source.Address)
	for d := range s.unsettled {
		s.conn.b.queues[s.source.Address] = append(s.conn.b.queues[s.source.Address], d)
	}
}

func (s *memorySub) Settle(d *broker.Delivery, _ broker.Settlement, done func(error)) {
	s.conn.b.mu.Lock()
	delete(s.unsettled, d)
	s.credit++
	s.conn.b.mu.Unlock()
	done(nil)
	s.conn.b.pump(s.source.Address)
}

func (s *memorySub) Close() {
	s.conn.b.mu.Lock()
	defer s.conn.b.mu.Unlock()
	s.giveBack()
}

func (*memorySub) Pause()                  {}
func (s *memorySub) Done() <-chan struct{} { return s.conn.done }
func (s *memorySub) Err() error            { return s.conn.err }
