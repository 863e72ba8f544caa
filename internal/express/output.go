// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
)

// flush sends what has been gathered.
func (c *conn) flush() {
	if len(c.out) > 0 {
		c.send(nil)
	}
}

// send sends what has been gathered and then the pieces. After a failure
// nothing more is sent.
func (c *conn) send(pieces [][]byte) {
	if c.bare {
		c.sendAtOnce(pieces)
	} else {
		c.sendInTurn(pieces)
	}
	c.sent()
}

// sent ends a sending, well or not.
func (c *conn) sent() {
	c.out = c.out[:0]
	if c.failed != nil {
		c.x.last = true
	}
}

// sendAtOnce sends everything in one system call, or in as few as the client
// lets it. A client that is slow but takes something within each timeout is
// waited for.
func (c *conn) sendAtOnce(pieces [][]byte) {
	if len(pieces) == 0 {
		c.sendGathered()
		return
	}
	c.pieces = append(c.pieces[:0], c.out)
	for _, piece := range pieces {
		if len(piece) > 0 {
			c.pieces = append(c.pieces, piece)
		}
	}
	for c.waiting = c.pieces; len(c.waiting) > 0 && c.failed == nil; {
		c.armWrite()
		var n int64
		n, c.failed = c.waiting.WriteTo(c.net)
		if n > 0 && errors.Is(c.failed, os.ErrDeadlineExceeded) {
			c.failed = nil
		}
	}
	clear(c.pieces)
}

// sendGathered is sendAtOnce for nothing else than what was gathered, which costs
// the system less in one piece.
func (c *conn) sendGathered() {
	for rest := c.out; len(rest) > 0 && c.failed == nil; {
		c.armWrite()
		var n int
		n, c.failed = c.net.Write(rest)
		if n > 0 && errors.Is(c.failed, os.ErrDeadlineExceeded) {
			c.failed = nil
		}
		rest = rest[n:]
	}
}

// maxWrite is how much of a response one deadline is for where one cannot go on
// after a write that was late, as with TLS.
const maxWrite = 64 << 10

func (c *conn) sendInTurn(pieces [][]byte) {
	c.sendPiece(c.out)
	for _, piece := range pieces {
		c.sendPiece(piece)
	}
}

func (c *conn) sendPiece(piece []byte) {
	for len(piece) > 0 && c.failed == nil {
		c.armWrite()
		var n int
		n, c.failed = c.net.Write(piece[:min(len(piece), maxWrite)])
		piece = piece[n:]
	}
}

func (c *conn) armWrite() {
	c.deadlines.write(c.net, c.limits.writeIdle, c.x.Started, c.limits.write)
}

// gate lets few large bodies at a time be handed to the kernel on their way to
// clients on this machine. Over loopback the sender's processor does the
// receiver's part of the protocol too, and the client needs a processor to read:
// with more senders at once than half of the processors, each takes longer, and
// all together do less.
type gate chan struct{}

var loopbackGate = sync.OnceValue(func() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) })

// gateTo returns the gate on the way to a client, nil if there is none.
func gateTo(client net.Addr) gate {
	addr, ok := client.(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil
	}
	return loopbackGate()
}

// enter waits for a place in the gate, leave gives it up.
func (g gate) enter() {
	if g != nil {
		g <- struct{}{}
	}
}

func (g gate) leave() {
	if g != nil {
		<-g
	}
}
