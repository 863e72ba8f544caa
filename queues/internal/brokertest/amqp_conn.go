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

	"github.com/Azure/go-amqp"
)

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

func (l *amqpLink) handleValue() []byte { return uintValue(uint32(l.handle)) } //nolint:gosec // the test's own

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
