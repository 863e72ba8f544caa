// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// Addresses at which the peer misbehaves, when a link for them is attached.
const (
	RefusesLink = "/refuses/" // detaches it with an error
	EndsSession = "/ends/"    // ends its session with an error
	Disconnects = "/closes/"  // closes the connection
)

// AMQP is a peer that speaks as much AMQP 1.0 as a broker has to.
type AMQP struct {
	Addr string

	t       testing.TB
	mu      sync.Mutex
	changed *sync.Cond
	queues  map[string][]*amqp.Message
	// Settled counts what became of requests: accepted, rejected, released.
	settled map[string]int
	links   []*amqpLink // that are received from
	conns   []net.Conn
	ids     []string // of containers
}

type amqpConn struct {
	net.Conn
	b     *AMQP
	out   sync.Mutex
	links map[[2]uint64]*amqpLink // by channel and handle
	ended map[uint16]bool         // channels whose session the peer has ended, and the other side not yet
}

type amqpLink struct {
	conn      *amqpConn
	channel   uint16
	handle    uint64
	address   string
	credit    uint64
	next      uint32
	unsettled map[uint64]*amqp.Message
}

// NewAMQP starts a peer, which ends with the test.
func NewAMQP(t testing.TB) *AMQP {
	t.Helper()
	b := &AMQP{t: t, Addr: caddytest.Addr(t), queues: make(map[string][]*amqp.Message), settled: make(map[string]int)}
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
			payload, err := m.MarshalBinary()
			if err != nil {
				b.t.Error(err)
				return
			}
			l.credit--
			id := l.next
			l.next++
			l.unsettled[uint64(id)] = m
			l.conn.send(l.channel, 0x14, payload, l.handleValue(), uintValue(id), bytesValue(0xb0, fmt.Sprint(id)), uintValue(0), boolValue(false))
		}
	}
	b.changed.Broadcast()
}

func (l *amqpLink) handleValue() []byte { return uintValue(uint32(l.handle)) } //nolint:gosec // the test's own

// Values as they are on the wire.
func uintValue(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{0x70}, n) }

func boolValue(is bool) []byte {
	if is {
		return []byte{0x41}
	}
	return []byte{0x42}
}

func bytesValue(code byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{code}, uint32(len(text))), text...) //nolint:gosec // short
}

var null = []byte{0x40}

func described(code byte, fields ...[]byte) []byte {
	var body []byte
	for _, f := range fields {
		body = append(body, f...)
	}
	out := binary.BigEndian.AppendUint32([]byte{0, 0x53, code, 0xd0}, uint32(len(body)+4)) //nolint:gosec // short
	return append(binary.BigEndian.AppendUint32(out, uint32(len(fields))), body...)        //nolint:gosec // few
}

func failure(text string) []byte {
	return described(0x1d, bytesValue(0xb3, "amqp:not-found"), bytesValue(0xb1, text))
}

// send writes a performative.
func (c *amqpConn) send(channel uint16, code byte, payload []byte, fields ...[]byte) {
	c.frame(0, channel, append(described(code, fields...), payload...))
}

func (c *amqpConn) frame(kind byte, channel uint16, body []byte) {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)) //nolint:gosec // short
	out = binary.BigEndian.AppendUint16(append(out, 2, kind), channel)
	c.out.Lock()
	defer c.out.Unlock()
	_, _ = c.Write(append(out, body...))
}

// read returns the value at the begin of data, lists as []any and what is described
// as its value, and what follows.
func read(data []byte) (value any, rest []byte) {
	code := data[0]
	data = data[1:]
	if code == 0 {
		_, data = read(data) // the descriptor
		return read(data)
	}
	number := func(size int) uint64 {
		var n uint64
		for _, b := range data[:size] {
			n = n<<8 | uint64(b)
		}
		return n
	}
	switch code >> 4 {
	case 4:
		switch code {
		case 0x40:
			return nil, data
		case 0x45:
			return []any{}, data
		case 0x43, 0x44:
			return uint64(0), data
		}
		return code == 0x41, data
	case 5:
		if code == 0x56 {
			return data[0] == 1, data[1:]
		}
		return number(1), data[1:]
	case 6:
		return number(2), data[2:]
	case 7:
		return number(4), data[4:]
	case 8:
		return number(8), data[8:]
	case 9:
		return data[:16], data[16:]
	}
	width := 1
	if code>>4&1 == 1 {
		width = 4
	}
	size := number(width)
	body, rest := data[width:width+int(size)], data[width+int(size):] //nolint:gosec // the test's own
	if code>>4 < 0xc {
		return string(body), rest
	}
	if code != 0xc0 && code != 0xd0 {
		return nil, rest // maps and arrays are of no interest
	}
	list := []any{}
	for body = body[width:]; len(body) > 0; {
		var item any
		item, body = read(body)
		list = append(list, item)
	}
	return list, rest
}

func (c *amqpConn) serve() {
	defer c.Close()
	defer c.forget(func(*amqpLink) bool { return true })
	in := bufio.NewReader(c)
	header := make([]byte, 8)
	if _, err := io.ReadFull(in, header); err != nil {
		return
	}
	_, _ = c.Write(header)
	if header[4] == 3 { // SASL
		c.frame(1, 0, described(0x40, bytesValue(0xb3, "ANONYMOUS")))
		if _, _, _, err := readFrame(in); err != nil {
			return
		}
		c.frame(1, 0, described(0x44, []byte{0x50, 0}))
		if _, err := io.ReadFull(in, header); err != nil {
			return
		}
		_, _ = c.Write(header)
	}
	for {
		channel, code, body, err := readFrame(in)
		if err != nil {
			return
		}
		if code == 0 {
			continue // it only says that it is there
		}
		value, payload := read(body)
		if !c.handle(channel, code, value.([]any), payload) {
			return
		}
	}
}

func readFrame(in io.Reader) (channel uint16, code byte, body []byte, err error) {
	header := make([]byte, 8)
	if _, err := io.ReadFull(in, header); err != nil {
		return 0, 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(header)-8)
	if _, err = io.ReadFull(in, body); err == nil && len(body) > 3 {
		code = body[2]
	}
	return binary.BigEndian.Uint16(header[6:]), code, body, err
}

// forget has nothing delivered any more to those links of the connection that are
// gone; what they have not settled goes back.
func (c *amqpConn) forget(gone func(*amqpLink) bool) {
	c.b.mu.Lock()
	var left []*amqpLink
	for _, l := range c.b.links {
		if l.conn != c || !gone(l) {
			left = append(left, l)
			continue
		}
		for _, m := range l.unsettled {
			c.b.queues[l.address] = append(c.b.queues[l.address], m)
		}
	}
	c.b.links = left
	c.b.mu.Unlock()
	c.b.pump()
}

func at(fields []any, i int) any {
	if i < len(fields) {
		return fields[i]
	}
	return nil
}

// handle does what a performative asks for; false closes the connection.
func (c *amqpConn) handle(channel uint16, code byte, fields []any, payload []byte) bool {
	window := uintValue(5000)
	number := func(i int) uint64 {
		n, _ := at(fields, i).(uint64)
		return n
	}
	switch code {
	case 0x10: // open
		c.b.mu.Lock()
		c.b.ids = append(c.b.ids, fmt.Sprint(at(fields, 0)))
		c.b.mu.Unlock()
		c.send(0, 0x10, nil, bytesValue(0xb1, "peer"), null, uintValue(65536), []byte{0x60, 3, 0xe8})
	case 0x11: // begin
		c.send(channel, 0x11, nil, binary.BigEndian.AppendUint16([]byte{0x60}, channel), uintValue(0), window, window, uintValue(1000))
	case 0x12:
		return c.attach(channel, fields)
	case 0x13: // flow
		if l := c.links[[2]uint64{uint64(channel), number(4)}]; l != nil && at(fields, 4) != nil {
			c.b.mu.Lock()
			l.credit = number(6)
			if drain, _ := at(fields, 8).(bool); drain {
				l.credit = 0
				c.send(channel, 0x13, nil, uintValue(0), window, uintValue(0), window, l.handleValue(), uintValue(l.next), uintValue(0), uintValue(0), boolValue(true))
			}
			c.b.mu.Unlock()
			c.b.pump()
		}
	case 0x14: // transfer
		m := new(amqp.Message)
		if err := m.UnmarshalBinary(payload); err != nil {
			c.b.t.Error(err)
		}
		address := c.links[[2]uint64{uint64(channel), number(0)}].address
		if address == "" && m.Properties.To != nil {
			address = *m.Properties.To
		}
		id := uintValue(uint32(number(1))) //nolint:gosec // the test's own
		if strings.HasPrefix(address, RefusesLink) {
			c.send(channel, 0x15, nil, boolValue(true), id, id, boolValue(true), described(0x25, failure("no such address")))
			return true
		}
		c.b.mu.Lock()
		c.b.queues[address] = append(c.b.queues[address], m)
		c.b.mu.Unlock()
		c.send(channel, 0x15, nil, boolValue(true), id, id, boolValue(true), described(0x24))
		c.b.pump()
	case 0x15:
		c.settle(channel, number(1), at(fields, 2), payload, fields)
	case 0x16: // detach
		c.send(channel, 0x16, nil, uintValue(uint32(number(0))), boolValue(true)) //nolint:gosec // the test's own
	case 0x17: // end
		c.forget(func(l *amqpLink) bool { return l.channel == channel })
		if !c.ended[channel] {
			c.send(channel, 0x17, nil)
		}
		delete(c.ended, channel)
	case 0x18: // close
		c.send(channel, 0x18, nil)
		return false
	}
	return true
}

func (c *amqpConn) attach(channel uint16, fields []any) bool {
	receives, _ := at(fields, 2).(bool) // the other side
	name, _ := at(fields, 0).(string)
	handle, _ := at(fields, 1).(uint64)
	terminus, _ := at(fields, 6).([]any)
	if receives {
		terminus, _ = at(fields, 5).([]any)
	}
	address, _ := at(terminus, 0).(string)
	l := &amqpLink{conn: c, channel: channel, handle: handle, address: address, unsettled: make(map[uint64]*amqp.Message)}
	place := described(0x29, bytesValue(0xb1, address))
	source := described(0x28, bytesValue(0xb1, address))
	switch {
	case strings.HasPrefix(address, RefusesLink):
		c.send(channel, 0x12, nil, bytesValue(0xb1, name), l.handleValue(), boolValue(!receives))
		c.send(channel, 0x16, nil, l.handleValue(), boolValue(true), failure("no such address"))
		return true
	case strings.HasPrefix(address, EndsSession):
		c.ended[channel] = true
		c.send(channel, 0x17, nil, failure("no such address"))
		return true
	case strings.HasPrefix(address, Disconnects):
		return false
	}
	c.links[[2]uint64{uint64(channel), handle}] = l
	c.send(channel, 0x12, nil, bytesValue(0xb1, name), l.handleValue(), boolValue(!receives), null, null, source, place, null, null, uintValue(0))
	if !receives {
		window := uintValue(5000)
		c.send(channel, 0x13, nil, uintValue(0), window, uintValue(0), window, l.handleValue(), uintValue(0), uintValue(1000))
		return true
	}
	c.b.mu.Lock()
	c.b.links = append(c.b.links, l)
	c.b.mu.Unlock()
	return true
}

// settle counts what became of deliveries.
func (c *amqpConn) settle(channel uint16, first uint64, last any, _ []byte, fields []any) {
	to, ok := last.(uint64)
	if !ok {
		to = first
	}
	how := map[bool]string{true: "accepted", false: "settled"}[at(fields, 4) != nil]
	c.b.mu.Lock()
	for _, l := range c.b.links {
		if l.conn != c || l.channel != channel {
			continue
		}
		for id := first; id <= to; id++ {
			if l.unsettled[id] != nil {
				delete(l.unsettled, id)
				c.b.settled[how]++
			}
		}
	}
	c.b.mu.Unlock()
	c.b.pump()
}
