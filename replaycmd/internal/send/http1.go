// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// connection carries one request at a time.
type connection interface {
	// exchange sends a message and reads the answer to its end. The
	// connection can be used again if it says so.
	exchange(m *Message, host string, deadline time.Time) (answer Answer, again bool, err error)
	// stale says whether the other side has ended the idle connection.
	stale() bool
	close()
}

// Answer is what came back.
type Answer struct {
	Status   int
	Sent     int64 // bytes of the request
	Received int64 // bytes of the answer
	// Location is where a redirect leads.
	Location string
	// Ended is when the answer was complete, or when it was clear that there
	// will be none.
	Ended time.Time
}

// isFinal says whether a status can be that of the answer to a request.
func isFinal(status int) bool { return status >= 200 && status <= 999 }

const (
	readBuffer = 16 << 10
	// wholeWrite is the size up to which a message is sent before the answer
	// is looked for: what fits into the buffers of any socket.
	wholeWrite = 16 << 10
	// writeGrace is how long the rest of a body may take after the answer to it.
	writeGrace = 100 * time.Millisecond
)

// http1 is an HTTP/1.1 connection. It writes messages as they are and parses
// no more of an answer than its end takes.
type http1 struct {
	conn net.Conn
	raw  net.Conn // conn without TLS
	in   *countingReader
	br   *bufio.Reader
	head fasthttp.ResponseHeader
	buf  []byte // for messages that get another host
	done func() bool
}

func newHTTP1(ctx context.Context, conn, raw net.Conn) *http1 {
	c := &http1{conn: conn, raw: raw, in: &countingReader{r: conn}}
	c.br = bufio.NewReaderSize(c.in, readBuffer)
	c.head.DisableNormalizing()
	c.done = context.AfterFunc(ctx, func() { raw.Close() })
	return c
}

// countingReader counts what is read through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.n += int64(n)
	return n, err
}

func (c *http1) close() {
	c.done()
	c.conn.Close()
}

func (c *http1) stale() bool { return c.br.Buffered() > 0 || ended(c.raw) }

func (c *http1) exchange(m *Message, host string, deadline time.Time) (Answer, bool, error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return Answer{}, false, fail(Closed, err)
	}
	before := c.in.n
	sent := c.send(m, host)
	answer, again, err := c.receive(m)
	if sent.rest != nil {
		sent = c.finish(sent, err == nil && again)
	}
	if err != nil {
		if sent.err != nil && KindOf(err) == Closed {
			err = fail(ofNetwork(sent.err, Reset), sent.err)
		}
		return answer, false, err
	}
	answer.Sent, answer.Received = sent.bytes, c.in.n-before
	return answer, again && sent.err == nil && c.br.Buffered() == 0, nil
}

// sent says how far the sending of a message has come.
type sent struct {
	bytes int64
	err   error
	rest  chan sent // what is still being sent says here when it ends
}

// send writes the message; one that might block until the other side reads is
// written while the answer is awaited.
func (c *http1) send(m *Message, host string) sent {
	if len(m.wire) <= wholeWrite {
		whole := m.wire
		if host != "" {
			c.buf = m.withHost(c.buf[:0], host, m.wire)
			whole = c.buf
		}
		n, err := c.conn.Write(whole)
		return sent{bytes: int64(n), err: err}
	}
	parts := net.Buffers{m.wire}
	if host != "" {
		c.buf = m.withHost(c.buf[:0], host, m.wire[:m.bodyAt])
		parts = net.Buffers{c.buf, m.wire[m.bodyAt:]}
	}
	rest := make(chan sent, 1)
	go func() {
		n, err := parts.WriteTo(c.conn)
		rest <- sent{bytes: n, err: err}
	}()
	return sent{rest: rest}
}

// finish waits for the end of sending, after the answer: for a moment if the
// connection is to be kept, else it is broken off.
func (c *http1) finish(s sent, keep bool) sent {
	if keep {
		timer := time.NewTimer(writeGrace)
		defer timer.Stop()
		select {
		case s := <-s.rest:
			return s
		case <-timer.C:
		}
	}
	c.conn.SetWriteDeadline(time.Unix(1, 0)) //nolint:errcheck // the connection is given up
	return <-s.rest
}

// receive reads the answer, skipping interim ones.
func (c *http1) receive(m *Message) (answer Answer, again bool, err error) {
	if _, err := c.br.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			return answer, false, fail(Closed, err)
		}
		return answer, false, fail(ofNetwork(err, Reset), err)
	}
	for {
		closes, err := c.readHead(m.isHead())
		if err != nil {
			return answer, false, within(err)
		}
		answer.Status = c.head.StatusCode()
		if answer.Status/100 != 1 || answer.Status == fasthttp.StatusSwitchingProtocols {
			again = !closes
			break
		}
	}
	if !isFinal(answer.Status) {
		return answer, false, fail(Malformed, errors.New("an answer that was not asked for"))
	}
	if answer.Status >= 300 && answer.Status < 400 {
		answer.Location = string(c.head.Peek(fasthttp.HeaderLocation))
	}
	if err := c.drain(m, answer.Status); err != nil {
		return answer, false, within(err)
	}
	return answer, again && !tunnels(m, answer.Status), nil
}

// within classifies an error after the first byte of an answer.
func within(err error) *Error {
	kind := ofNetwork(err, Malformed)
	if kind == Reset {
		kind = CutOff
	}
	return fail(kind, err)
}

// tunnels says whether the connection is a tunnel from here on.
func tunnels(m *Message, status int) bool {
	return string(m.Method) == "CONNECT" && status < 300
}
