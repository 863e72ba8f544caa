// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package brokertest has small brokers for tests. They keep queues in memory, and
// misbehave as real ones were seen to.
package brokertest

import (
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// Destinations at which the broker misbehaves.
const (
	// Nowhere has an ERROR with the receipt sent, and the connection closed, as
	// ActiveMQ does for a temporary queue that is gone.
	Nowhere = "/error/"
	// Silent has the connection closed without a word.
	Silent = "/silent/"
)

// Stomp is a broker that speaks STOMP.
type Stomp struct {
	Addr string

	t        testing.TB
	listener net.Listener
	mu       sync.Mutex
	changed  *sync.Cond
	queues   map[string][]*Message
	conns    map[*stompConn]bool
	number   int
	// Connects and Redelivered count what there was.
	connects, redelivered int
	held                  map[string]bool // no receipts for messages to it
	owed                  map[string][]func()
}

// Message is one in a queue, or taken from it.
type Message struct {
	Headers map[string]string
	Body    string
	tried   bool
}

// NewStomp starts a broker on an address of its own.
func NewStomp(t testing.TB) *Stomp {
	b := &Stomp{
		t: t, Addr: peertest.Addr(t), queues: make(map[string][]*Message), conns: make(map[*stompConn]bool),
		held: make(map[string]bool), owed: make(map[string][]func()),
	}
	b.changed = sync.NewCond(&b.mu)
	t.Cleanup(b.Stop)
	return b
}

// Start begins to listen. What is in queues stays over a stop.
func (b *Stomp) Start() {
	b.t.Helper()
	listener, err := net.Listen("tcp", b.Addr)
	if err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.listener = listener
	b.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := &stompConn{Conn: conn, b: b, unsettled: make(map[string]*Message)}
			b.mu.Lock()
			b.conns[c] = true
			b.connects++
			b.changed.Broadcast()
			b.mu.Unlock()
			go c.serve()
		}
	}()
}

// Stop closes all connections.
func (b *Stomp) Stop() {
	b.mu.Lock()
	listener, conns := b.listener, maps.Clone(b.conns)
	b.listener = nil
	b.mu.Unlock()
	if listener != nil {
		listener.Close()
	}
	for c := range conns {
		c.Close()
		c.end()
	}
}

// Put puts a message into a queue.
func (b *Stomp) Put(queue, body string, headers ...string) {
	m := &Message{Headers: make(map[string]string), Body: body}
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers[headers[i]] = headers[i+1]
	}
	b.mu.Lock()
	b.queues[queue] = append(b.queues[queue], m)
	b.mu.Unlock()
	b.pump()
}

// Take takes n messages from a queue, waiting for them.
func (b *Stomp) Take(queue string, n int) []*Message {
	b.t.Helper()
	b.Await(fmt.Sprintf("%d messages in %s", n, queue), func() bool { return len(b.queues[queue]) >= n })
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.queues[queue][:n]
	b.queues[queue] = b.queues[queue][n:]
	return taken
}

// Await waits until something is so, with the broker locked.
func (b *Stomp) Await(what string, is func() bool) {
	b.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer timer.Stop()
	deadline := time.Now().Add(30 * time.Second)
	b.mu.Lock()
	defer b.mu.Unlock()
	for !is() {
		if time.Now().After(deadline) {
			b.t.Fatalf("there never were %s: %v", what, b.lengths())
		}
		b.changed.Wait()
	}
}

func (b *Stomp) lengths() map[string]int {
	n := make(map[string]int)
	for name, list := range b.queues {
		n[name] = len(list)
	}
	return n
}

// AwaitUnsettled waits until so many requests are in hand.
func (b *Stomp) AwaitUnsettled(n int) {
	b.t.Helper()
	b.Await(fmt.Sprintf("%d unsettled", n), func() bool { return b.unsettled() == n })
}

func (b *Stomp) unsettled() (n int) {
	for c := range b.conns {
		n += len(c.unsettled)
	}
	return n
}

// Connects returns how often somebody has connected, and how many do now.
func (b *Stomp) Connects() (ever, now int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.connects, len(b.conns)
}

// Connected returns how often somebody has connected, for Await, which has the lock.
func (b *Stomp) Connected() int { return b.connects }

// Prefetch returns the largest number of requests that a subscriber asked for.
func (b *Stomp) Prefetch() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		n = max(n, c.prefetch)
	}
	return n
}

// Hold keeps back the receipts of messages to a queue until Release.
func (b *Stomp) Hold(queue string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[queue] = true
}

// Release sends the receipts that Hold kept back.
func (b *Stomp) Release(queue string) {
	b.mu.Lock()
	owed := b.owed[queue]
	delete(b.owed, queue)
	delete(b.held, queue)
	b.mu.Unlock()
	for _, give := range owed {
		give()
	}
}

// pump delivers what can be delivered.
func (b *Stomp) pump() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		for c.address != "" && !c.gone && len(b.queues[c.address]) > 0 && len(c.unsettled) < c.prefetch {
			m := b.queues[c.address][0]
			b.queues[c.address] = b.queues[c.address][1:]
			b.number++
			id := strconv.Itoa(b.number)
			c.unsettled[id] = m
			headers := maps.Clone(m.Headers)
			headers["ack"], headers["subscription"], headers["destination"] = id, "0", c.address
			if headers["message-id"] == "" {
				headers["message-id"] = "ID:" + id
			}
			if m.tried {
				headers["redelivered"] = "true"
				b.redelivered++
			}
			m.tried = true
			go c.send("MESSAGE", headers, m.Body)
		}
	}
	b.changed.Broadcast()
}
