// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package http1 is the client's side of HTTP/1.1: a connection that sends
// requests that are ready as bytes and reads their responses to the end. It
// follows no redirect, repeats no request and adds nothing to what it sends.
package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

const (
	// wholeWrite is the size up to which a request is sent before its response
	// is looked for: what fits into the buffers of any socket.
	wholeWrite = 16 << 10

	// writeGrace is how long the rest of a request may take after the response
	// to it, if the connection is to be kept.
	writeGrace = 100 * time.Millisecond
)

// Dialer opens connections to one server.
type Dialer struct {
	// Network and Address are what to dial: `tcp` and `host:port`, or `unix`
	// and a path. A name is looked up for every connection.
	Network, Address string

	// TLS is set if the connections are to be encrypted.
	TLS *tls.Config

	// Local returns the address that the next connection comes from. Without it the
	// system chooses.
	Local func() net.Addr
}

// Source returns what dials from the next address.
func (d *Dialer) Source() *net.Dialer {
	dialer := new(net.Dialer)
	if d.Local != nil {
		dialer.LocalAddr = d.Local()
	}
	return dialer
}

// Dial opens a connection, with its TLS handshake. The error is an *Error.
func (d *Dialer) Dial(ctx context.Context) (*Conn, error) {
	raw, err := d.Source().DialContext(ctx, d.Network, d.Address)
	if err != nil {
		return nil, DialError(err)
	}
	if d.TLS == nil {
		return NewConn(raw, raw), nil
	}
	secured := tls.Client(raw, d.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, HandshakeError(err)
	}
	return NewConn(secured, raw), nil
}

// Conn is a connection to a server. It carries one exchange at a time.
type Conn struct {
	conn   net.Conn
	raw    net.Conn
	socket syscall.RawConn // nil if it cannot be looked at
}

// NewConn returns the client's side of HTTP/1.1 on a connection. The second one
// is the same without TLS.
func NewConn(conn, raw net.Conn) *Conn {
	c := &Conn{conn: conn, raw: raw}
	if sc, ok := raw.(syscall.Conn); ok {
		c.socket, _ = sc.SyscallConn()
	}
	return c
}

// Close closes the connection. With TLS it says goodbye first, which may take a
// while.
func (c *Conn) Close() error { return c.conn.Close() }

// Abort closes the connection at once. It may be called at any time and ends an
// exchange that goes on.
func (c *Conn) Abort() { c.raw.Close() }

// Stale reports whether an idle connection is of no more use: the server has
// ended it, or sent what nobody asked for. Without a way to look into a socket
// no connection is stale.
func (c *Conn) Stale() bool { return c.socket != nil && hasInput(c.socket) }

// Request is a request ready to be sent: the bytes of Head, Body and Tail, in
// this order. Head holds at least the request line; any other part may be empty.
type Request struct {
	Head, Body, Tail []byte

	// MaxBody is the number of bytes of the response's body that are read at
	// most. A larger body ends the connection, but is no error. 0: no limit.
	MaxBody int64
}

func (r *Request) size() int { return len(r.Head) + len(r.Body) + len(r.Tail) }

// Response is what came back.
type Response struct {
	// Status is the final status, or 101. 0: none came.
	Status int
	// Minor is the minor version of HTTP/1, 0 or 1 with most servers.
	Minor int
	// Location is where a redirect leads, for a status of 3xx that has one.
	Location string
	// Date is when the server says that it responded, in seconds since 1970; 0 if
	// it does not.
	Date int64
	// BodySize is how many bytes of the body were read, without its framing.
	BodySize int64
	// Whole reports whether the body was read to its end.
	Whole bool
	// Sent and Received are the bytes of the exchange on the connection,
	// before encryption.
	Sent, Received int64
	// Reusable reports whether another exchange can follow. If not, the
	// connection has to be closed.
	Reusable bool
}

// Exchange sends a request and reads the response to its end, all before the
// deadline. The capture may be nil. The error is an *Error; the response has
// what was received until then.
//
// A server may respond before it has read the request, and read no more of it:
// then the response counts.
func (c *Conn) Exchange(req *Request, deadline time.Time, capture *Capture) (Response, error) {
	if capture != nil {
		capture.Reset()
	}
	var resp Response
	if err := c.conn.SetDeadline(deadline); err != nil {
		return resp, &Error{Kind: Closed, Sending: true, Err: err}
	}
	sending := c.send(req)
	in := newInput(c.conn)
	err := in.response(&resp, req, capture)
	resp.Reusable = resp.Reusable && err == nil
	if sending.rest != nil {
		sending = c.finish(sending, resp.Reusable)
	}
	resp.Sent, resp.Received = sending.bytes, in.received
	resp.Reusable = resp.Reusable && sending.err == nil && in.empty()
	in.release()
	if err == nil {
		return resp, nil
	}
	failure := asError(err)
	if sending.err != nil && resp.Status == 0 {
		failure.Sending = true
		// that the connection ends is a consequence of how sending failed,
		// unless sending was broken off since it ended
		if kind := kindOf(sending.err, Reset); failure.Kind == Closed && kind != Timeout {
			failure.Kind, failure.Err = kind, sending.err
		}
	}
	return resp, failure
}

// sending is how far the sending of a request has come.
type sending struct {
	bytes int64
	err   error
	rest  chan sending // brings the end of what is still being sent
}

// send writes the request. One that might block until the other side reads is
// written while the response is awaited.
func (c *Conn) send(req *Request) sending {
	switch {
	case req.size() > wholeWrite:
		return sending{rest: c.sendBeside(req)}
	case len(req.Body)+len(req.Tail) > 0:
		parts := net.Buffers{req.Head, req.Body, req.Tail}
		n, err := parts.WriteTo(c.conn)
		return sending{bytes: n, err: err}
	}
	n, err := c.conn.Write(req.Head)
	return sending{bytes: int64(n), err: err}
}

// sendBeside writes the request in a goroutine of its own, which finish awaits.
func (c *Conn) sendBeside(req *Request) (rest chan sending) {
	rest = make(chan sending, 1)
	parts := net.Buffers{req.Head, req.Body, req.Tail}
	go func() {
		n, err := parts.WriteTo(c.conn)
		rest <- sending{bytes: n, err: err}
	}()
	return rest
}

// finish waits for the end of sending, after the response: for a moment if the
// connection is to be kept, else it is broken off.
func (c *Conn) finish(s sending, keep bool) sending {
	if keep {
		timer := time.NewTimer(writeGrace)
		defer timer.Stop()
		select {
		case s := <-s.rest:
			return s
		case <-timer.C:
		}
	}
	_ = c.conn.SetWriteDeadline(time.Unix(1, 0)) // the connection is given up
	return <-s.rest
}

// asError returns the error of an exchange, which is an *Error already unless
// the package is wrong about itself.
func asError(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return &Error{Kind: Malformed, Err: err}
}
