// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stomp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// conn is a connection. One goroutine reads frames and another writes them, so that
// neither waits for the other.
type conn struct {
	socket  net.Conn
	version string
	silence time.Duration // after which the broker is gone; 0: never
	beat    time.Duration // of ours; 0: none
	done    chan struct{}
	wake    chan struct{}

	mu       sync.Mutex // guards what follows
	out      []byte
	receipts map[string]func(error)
	last     uint64 // number of a receipt
	sub      *subscription
	closing  bool
	err      error
}

// open sends the first frame and waits for that of the broker. It ends with the
// context.
func open(ctx context.Context, socket net.Conn, connect *frame) (*conn, error) {
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	defer stop()
	c := &conn{
		socket:   socket,
		done:     make(chan struct{}),
		wake:     make(chan struct{}, 1),
		receipts: make(map[string]func(error)),
	}
	if _, err := socket.Write(appendFrame(nil, connect)); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(socket, 64<<10)
	var f *frame
	for f == nil {
		var err error
		if f, err = readFrame(in); err != nil {
			return nil, err
		}
	}
	switch f.command {
	case "CONNECTED":
	case "ERROR":
		return nil, errorOf(f)
	default:
		return nil, fmt.Errorf("the broker says %.32q instead of CONNECTED", f.command)
	}
	c.version = f.get("version")
	c.agree(f.get("heart-beat"))
	if !stop() {
		return nil, ctx.Err()
	}
	go c.run(func() error { return c.read(in) })
	go c.run(c.write)
	return c, nil
}

// run does what a goroutine of the connection is for, and ends the connection.
func (c *conn) run(do func() error) {
	var err error
	if panicked := broker.Guarded(func() { err = do() }); panicked != nil {
		err = panicked
	}
	c.end(err)
}

// end closes the connection, and fails what is under way on it.
func (c *conn) end(err error) {
	c.mu.Lock()
	select {
	case <-c.done:
		c.mu.Unlock()
		return
	default:
	}
	c.err = err
	close(c.done)
	receipts := c.receipts
	c.receipts = nil
	sub := c.sub
	c.mu.Unlock()
	c.socket.Close()
	if sub != nil {
		sub.end(err)
	}
	lost := fmt.Errorf("%w: %w", broker.ErrLost, err)
	for _, done := range receipts {
		done(lost)
	}
}

// read takes frames until the connection is lost.
func (c *conn) read(in *bufio.Reader) error {
	for {
		if c.silence > 0 {
			if err := c.socket.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
				return err
			}
		}
		f, err := readFrame(in)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		switch f.command {
		case "MESSAGE":
			c.mu.Lock()
			sub := c.sub
			c.mu.Unlock()
			if sub != nil {
				sub.take(deliveryOf(sub.address, f))
			}
		case "RECEIPT":
			if done := c.take(f.get("receipt-id")); done != nil {
				done(nil)
			}
		case "ERROR":
			err := errorOf(f)
			if done := c.take(f.get("receipt-id")); done != nil {
				c.end(err) // before that is told, or the next message would go to a connection that is no more
				done(&broker.RefusedError{Reason: err})
			}
			return err
		}
	}
}

// take returns who waits for a receipt, and no longer does; nil if nobody does.
func (c *conn) take(id string) func(error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.receipts[id]
	delete(c.receipts, id)
	return done
}

// errorOf returns what the broker says is wrong.
func errorOf(f *frame) error {
	text := f.get("message")
	detail, _, _ := strings.Cut(strings.TrimSpace(string(f.body)), "\n") // what follows is where in the broker
	if detail != "" && detail != text {
		text = strings.TrimPrefix(text+": "+detail, ": ")
	}
	const most = 300
	text = text[:min(len(text), most)]
	return errors.New(strings.ToValidUTF8(text, "?"))
}

// write sends what is in the buffer, and heart-beats when there is nothing.
func (c *conn) write() error {
	var beat <-chan time.Time
	if c.beat > 0 {
		ticker := time.NewTicker(c.beat)
		defer ticker.Stop()
		beat = ticker.C
	}
	var spare []byte
	for {
		select {
		case <-c.done:
			return c.err
		case <-c.wake:
		case <-beat:
			c.mu.Lock()
			c.out = append(c.out, '\n')
			c.mu.Unlock()
		}
		c.mu.Lock()
		out := c.out
		c.out = spare[:0]
		c.mu.Unlock()
		if err := c.socket.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := c.socket.Write(out); err != nil {
			return err
		}
		if spare = out; cap(spare) > mostSpare {
			spare = nil
		}
	}
}

const (
	// writeTimeout is how long a broker may take nothing.
	writeTimeout = time.Minute
	// mostSpare is how large a buffer may be that is used again.
	mostSpare = 1 << 20
)

// send puts a frame into the buffer. Done is called with its receipt; nil: none is
// asked for.
func (c *conn) send(f *frame, done func(error)) {
	c.mu.Lock()
	if c.receipts == nil || c.closing {
		c.mu.Unlock()
		if done != nil {
			done(broker.ErrLost)
		}
		return
	}
	c.put(f, done)
	c.mu.Unlock()
}

// put is send for who holds the lock.
func (c *conn) put(f *frame, done func(error)) {
	if done != nil {
		c.last++
		id := strconv.FormatUint(c.last, 10)
		f.add("receipt", id)
		c.receipts[id] = done
	}
	c.out = appendFrame(c.out, f)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Send implements broker.Conn.
func (c *conn) Send(m *broker.Message, done func(error)) { c.send(encode(m), done) }

// Done implements broker.Conn.
func (c *conn) Done() <-chan struct{} { return c.done }

// Err implements broker.Conn.
func (c *conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// disconnectTimeout is how long the broker may take to say that it has all that was sent.
const disconnectTimeout = 2 * time.Second

var errClosed = errors.New("the connection was closed")

// Close implements broker.Conn. It waits for the broker to have all that was sent.
func (c *conn) Close() {
	gone := make(chan struct{})
	c.mu.Lock()
	if c.receipts != nil && !c.closing {
		c.closing = true
		c.put(&frame{command: "DISCONNECT"}, func(error) { close(gone) })
		c.mu.Unlock()
		timer := time.NewTimer(disconnectTimeout)
		defer timer.Stop()
		select {
		case <-gone:
		case <-timer.C:
		}
	} else {
		c.mu.Unlock()
	}
	c.end(errClosed)
}
