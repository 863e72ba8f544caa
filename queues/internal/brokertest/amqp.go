// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// Addresses at which the peer misbehaves, when a link for them is attached.
const (
	RefusesLink = "/refuses/" // detaches it with an error
	EndsSession = "/ends/"    // ends its session with an error
	Disconnects = "/closes/"  // closes the connection
)

// mostPayload is how many bytes of a message the peer sends in a frame.
const mostPayload = 60_000

// AMQP is a peer that speaks as much AMQP 1.0 as a broker has to.
type AMQP struct {
	Addr string

	t       testing.TB
	mu      sync.Mutex
	changed *sync.Cond
	queues  map[string][]*amqp.Message
	encoded map[*amqp.Message][]byte // messages of PutEncoded
	// Settled counts what became of requests: accepted, rejected, released.
	settled map[string]int
	links   []*amqpLink // that are received from
	conns   []net.Conn
	ids     []string // of containers
}

// NewAMQP starts a peer, which ends with the test.
func NewAMQP(t testing.TB) *AMQP {
	t.Helper()
	b := &AMQP{t: t, Addr: peertest.Addr(t), queues: make(map[string][]*amqp.Message), encoded: make(map[*amqp.Message][]byte), settled: make(map[string]int)}
	b.changed = sync.NewCond(&b.mu)
	listener, err := net.Listen("tcp", b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, conn := range b.conns {
			conn.Close()
		}
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.conns = append(b.conns, conn)
			b.mu.Unlock()
			go (&amqpConn{Conn: conn, b: b, links: make(map[[2]uint64]*amqpLink), ended: make(map[uint16]bool)}).serve()
		}
	}()
	return b
}

// Put puts a message into a queue.
func (b *AMQP) Put(queue string, m *amqp.Message) {
	b.mu.Lock()
	b.queues[queue] = append(b.queues[queue], m)
	b.mu.Unlock()
	b.pump()
}

// PutEncoded puts something into a queue that need not be a message.
func (b *AMQP) PutEncoded(queue string, encoded []byte) {
	m := new(amqp.Message)
	b.mu.Lock()
	b.encoded[m] = encoded
	b.mu.Unlock()
	b.Put(queue, m)
}

// Take takes n messages from a queue, waiting for them.
func (b *AMQP) Take(queue string, n int) []*amqp.Message {
	b.t.Helper()
	b.await(fmt.Sprintf("%d messages in %s", n, queue), func() bool { return len(b.queues[queue]) >= n })
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.queues[queue][:n]
	b.queues[queue] = b.queues[queue][n:]
	return taken
}

// AwaitSettled waits until so many requests were accepted, rejected or released.
func (b *AMQP) AwaitSettled(how string, n int) {
	b.t.Helper()
	b.await(fmt.Sprintf("%d %s", n, how), func() bool { return b.settled[how] == n })
}

// Containers returns the container ids of all connections that there were.
func (b *AMQP) Containers() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.ids...)
}

func (b *AMQP) await(what string, is func() bool) {
	b.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	timer := time.AfterFunc(30*time.Second, b.changed.Broadcast)
	defer timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !is() {
		if time.Now().After(deadline) {
			b.t.Fatalf("there never were %s: %v", what, b.settled)
		}
		b.changed.Wait()
	}
}

// pump delivers what can be delivered.
func (b *AMQP) pump() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		for l.credit > 0 && len(b.queues[l.address]) > 0 {
			m := b.queues[l.address][0]
			b.queues[l.address] = b.queues[l.address][1:]
			payload, isEncoded := b.encoded[m]
			if !isEncoded {
				var err error
				if payload, err = m.MarshalBinary(); err != nil {
					b.t.Error(err)
					return
				}
			}
			l.credit--
			id := l.next
			l.next++
			l.unsettled[uint64(id)] = m
			for more := true; more; {
				part := payload[:min(len(payload), mostPayload)]
				payload = payload[len(part):]
				more = len(payload) > 0
				l.conn.send(l.channel, 0x14, part, l.handleValue(), uintValue(id), bytesValue(0xb0, fmt.Sprint(id)), uintValue(0), boolValue(false), boolValue(more))
			}
		}
	}
	b.changed.Broadcast()
}
