// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package pairs joins the responses that several systems send to one request,
// whenever and from whichever goroutine they come, and has them compared and
// counted beside. What joins and compares is bounded in number, bytes and time,
// and holds back who hands a response in only where that is asked for.
package pairs

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// Side is whose response it is: Old, Twin, or NewSystem of an index.
type Side int

// Sides that there are once.
const (
	Old  Side = iota
	Twin      // old′: the old system once more
	newSide
)

// NewSystem returns the side of a new system, whose Tally has this index.
func NewSystem(i int) Side { return newSide + Side(i) }

// Reasons for which a pair is not compared, beside those of the callers.
const (
	Shed     = "shed"      // more waits, in number or bytes, than may
	TimedOut = "timed_out" // a response did not come in time
	Panicked = "panic"     // the comparison did
)

// Options are what is compared and what bounds it.
type Options struct {
	// Rules are those of every comparison. Required.
	Rules *compare.Rules
	// Tallies count, one for each new system. At least one.
	Tallies []*tally.Tally
	// Noise means that each request has a response of Twin as well. Without it
	// the pairs of the request are not compared.
	Noise bool
	// TwinOfNew is set where Twin is the second response of the one new system
	// rather than of the old one, which cannot be asked again.
	TwinOfNew bool

	// Workers is how many comparisons are made at once; by default half the
	// processors.
	Workers int
	// Patient is set where who hands in the last response of a request may be held
	// up: it compares by itself, and nothing is shed since comparing takes long.
	Patient bool
	// Waiting is how many requests may lack a response or wait to be compared;
	// by default 4096. What comes beyond is shed.
	Waiting int
	// Memory is what all that waits is taken of; by default 64 MiB of the pool's
	// own.
	Memory *Memory
	// Timeout is how long a request waits for its last response, from its first
	// sign on; by default 10 s.
	Timeout time.Duration

	// Compared is called for each pair after it was counted, by several
	// goroutines at once. The pair is valid during the call. It may be nil.
	Compared func(system int, p *tally.Pair)
	// Skipped is called for each pair that was not compared, with the reason,
	// which its Tally has counted. It may be nil, and must not wait.
	Skipped func(system int, reason string)
}

const (
	defaultWaiting = 4096
	defaultBytes   = 64 << 20
	defaultTimeout = 10 * time.Second
)

// Pool joins and compares. Its methods may be called by many goroutines.
type Pool struct {
	options Options

	mu      sync.Mutex
	settled sync.Cond // nothing is open and no worker runs
	closed  bool
	open    int // exchanges that lack a response, or were not compared yet
	waiting waiting
	keys    keys

	ready   list      // to be compared
	running int       // workers
	idle    []*worker // those that do not run
}

// New returns a pool. It has no goroutine while there is nothing to compare.
func New(o Options) *Pool {
	if o.Workers <= 0 {
		o.Workers = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if o.Waiting <= 0 {
		o.Waiting = defaultWaiting
	}
	if o.Memory == nil {
		o.Memory = NewMemory(defaultBytes)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	p := &Pool{options: o}
	p.settled.L = &p.mu
	p.waiting.fire = p.expire
	return p
}

// Begin returns the exchange of a request, of which a copy is kept. Where the
// pool is full its pairs are counted as Shed, and nil is returned, whose methods
// do nothing.
func (p *Pool) Begin(r *Request) *Exchange {
	x := p.reserve(r)
	if x == nil {
		p.skipAll(Shed)
		return nil
	}
	x.request.copy(r)
	p.mu.Lock()
	p.begin(x)
	p.mu.Unlock()
	return x
}

// reserve returns an empty exchange, nil if the pool is full.
func (p *Pool) reserve(r *Request) *Exchange {
	size := r.size()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.open >= p.options.Waiting || !p.options.Memory.Take(size) {
		return nil
	}
	p.open++
	return newExchange(p, size)
}

// begin makes an exchange wait for its responses. The caller holds the lock.
func (p *Pool) begin(x *Exchange) {
	x.deadline = time.Now().Add(p.options.Timeout)
	p.waiting.add(x)
	p.waiting.arm()
	if p.closed {
		p.complete(x)
	}
}

// complete passes on to the workers an exchange that has all that it will get.
// The caller holds the lock.
func (p *Pool) complete(x *Exchange) {
	x.complete = true
	p.waiting.remove(x)
	p.enqueue(x)
}

// enqueue leaves a complete exchange to the workers. It is called with the lock.
func (p *Pool) enqueue(x *Exchange) {
	p.ready.add(x)
	if p.running < p.options.Workers {
		p.running++
		go p.work()
	}
}

// expire completes the exchanges whose time is over.
func (p *Pool) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for x := p.waiting.expired(time.Now()); x != nil; x = p.waiting.expired(time.Now()) {
		p.complete(x)
	}
}

// Close counts what lacks a response as TimedOut, and returns when all else is
// compared. What comes later is shed.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.waiting.first != nil {
		p.complete(p.waiting.first)
	}
	p.waiting.stop()
	for p.open > 0 || p.running > 0 {
		p.settled.Wait()
	}
}

// Idle reports whether nothing waits for a response or to be compared.
func (p *Pool) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open == 0
}

// forget ends what an exchange takes of the bounds. It is called with the lock.
func (p *Pool) forget(x *Exchange) {
	p.options.Memory.Return(x.held)
	if p.open--; p.open == 0 {
		p.settled.Broadcast()
	}
}

func (p *Pool) skipAll(reason string) {
	for i := range p.options.Tallies {
		p.skip(i, reason)
	}
}

func (p *Pool) skip(system int, reason string) {
	p.options.Tallies[system].Skip(reason)
	if p.options.Skipped != nil {
		p.options.Skipped(system, reason)
	}
}

// Memory counts the bytes that responses take, from when they are received until
// they are compared. Pools may share one, with those who keep responses for them.
type Memory struct {
	limit int64
	held  atomic.Int64
}

// NewMemory returns one of which limit bytes may be taken.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// Take reserves so many bytes more and reports whether they may be held. They
// are given back by Return.
func (m *Memory) Take(bytes int64) bool {
	if m.held.Add(bytes) > m.limit {
		m.held.Add(-bytes)
		return false
	}
	return true
}

// Return returns bytes that were taken.
func (m *Memory) Return(bytes int64) { m.held.Add(-bytes) }

// Held returns how many bytes are taken.
func (m *Memory) Held() int64 { return m.held.Load() }
