// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

// Exchange is one request and its response.
type Exchange struct {
	Head

	// Started is when the request's head had arrived.
	Started time.Time

	// Remote is the client's address, as text.
	Remote string

	// TLS is the state of a TLS connection, nil on a plain one.
	TLS *tls.ConnectionState

	conn      *conn
	first     time.Time // when its first bytes had arrived
	unread    int64     // bytes of the body
	unsent    int64     // bytes of the response's body, between Start and the last Write; negative before End
	chunked   bool      // the body goes in chunks
	bodiless  bool      // what Write is given after Start is not sent
	responded bool
	last      bool // the connection ends with this exchange
}

// begin makes the exchange ready for a request whose head has been parsed.
func (x *Exchange) begin() {
	x.unread = x.Length
	x.unsent = 0
	x.chunked = false
	x.responded = false
	x.last = x.close || x.conn.pool.draining.Load()
}

// Forwarded reports whether the request has a field from which Caddy may take
// another client address than Remote, if it trusts the proxy that sent it.
func (x *Exchange) Forwarded() bool { return slices.ContainsFunc(x.conn.site.ClientIPHeaders, x.has) }

// Conn hands the connection over for a response that is none: what is written
// to it is sent as it is, and once ServeExpress returns the connection is
// closed.
func (x *Exchange) Conn() net.Conn {
	x.responded, x.last = true, true
	x.conn.flush()
	x.conn.armWrite()
	return x.conn.net
}

// Reset breaks the connection off, so that the client sees it reset.
func (x *Exchange) Reset() {
	x.responded, x.last = true, true
	x.conn.flush() // responses to earlier requests
	Reset(x.conn.net)
}

// maxDrained is how much of a body that the handler left unread is read after
// the response, so that the connection can go on; net/http reads as much.
const maxDrained = 256 << 10

// Read reads the request's body, to io.EOF. Read and write timeouts of the
// server apply; a client that breaks off ends it with io.ErrUnexpectedEOF.
func (x *Exchange) Read(p []byte) (int, error) {
	if x.unread == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > x.unread {
		p = p[:x.unread]
	}
	n, err := x.conn.readBody(p, x.first)
	x.unread -= int64(n)
	if err != nil {
		x.last = true
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// drain reads what the handler left of the body, and reports whether the
// connection can go on.
func (x *Exchange) drain() bool {
	if x.unread > maxDrained {
		return false
	}
	return x.Discard() == nil
}

// Discard reads what is left of the body and drops it.
func (x *Exchange) Discard() error {
	skipped := min(int64(len(x.conn.buffered())), x.unread)
	x.conn.start += int(skipped)
	x.unread -= skipped
	if x.unread == 0 {
		return nil
	}
	_, err := io.Copy(io.Discard, x)
	return err
}

// readBody reads into p, first what is buffered.
func (c *conn) readBody(p []byte, first time.Time) (int, error) {
	if n := copy(p, c.buffered()); n > 0 {
		c.start += n
		return n, nil
	}
	c.flush()
	c.deadlines.read(c.net, c.limits.readIdle, first, c.limits.read)
	return c.net.Read(p)
}

// Sleep sends what has been written, then waits. It reports false when the
// request is over before that: its client has left or Caddy is exiting.
func (x *Exchange) Sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	c := x.conn
	c.flush()
	c.release()
	defer c.acquire()
	if c.failed == nil && c.sleepUntil(time.Now().Add(d)) {
		return true
	}
	x.last, x.responded = true, true
	return false
}

// Watched reports whether Sleep notices that the client leaves. Where that shows
// by reading, it does not once the client has sent more than is looked at.
func (x *Exchange) Watched() bool { return x.conn.looks() || x.conn.end < len(x.conn.in) }

// sleepUntil waits for the client to leave, with the read deadline as its
// alarm clock.
func (c *conn) sleepUntil(until time.Time) bool {
	defer c.deadlines.forgetRead()
	c.state.Store(sleeping)
	for time.Now().Before(until) {
		c.deadlines.readAt(c.net, until)
		if c.pool.exiting() {
			return false
		}
		if !c.stays(until) {
			return false
		}
	}
	return c.state.CompareAndSwap(sleeping, busy)
}

// stays waits until the read deadline, or until the client has sent something,
// and reports whether the client is still there.
func (c *conn) stays(until time.Time) bool {
	if c.looks() {
		return errors.Is(c.look(), os.ErrDeadlineExceeded)
	}
	if c.acquire(); c.start > 0 {
		c.start, c.end = 0, copy(c.in, c.buffered())
	}
	if c.end == len(c.in) {
		return c.waits(until)
	}
	n, err := c.net.Read(c.in[c.end:])
	c.end += n
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// waits rests until a time, whatever the client does, and reports whether nothing
// but the time ended it.
func (c *conn) waits(until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.pool.exit:
	case <-c.pool.over:
	}
	return false
}
