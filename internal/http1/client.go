// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package http1 sends HTTP/1.1 requests that are ready as bytes, throws the
// responses away and tells their status. It follows no redirect, repeats no
// request and adds nothing to what it sends.
package http1

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	idleTimeout = 15 * time.Second // below what servers commonly allow
	maxAge      = time.Minute      // how long a changed DNS record may go unnoticed
	dialPause   = 10 * time.Millisecond

	// answerGrace is for reading an answer that is there when sending fails:
	// a server may answer early and read no more.
	answerGrace = 50 * time.Millisecond
)

// Client sends requests to one address over kept-alive connections.
type Client struct {
	// Network and Address are what to dial: `tcp` and `host:port`, or `unix`
	// and a path. A name is looked up for every new connection.
	Network, Address string

	// TLS is set if the connections are to be encrypted.
	TLS *tls.Config

	// OneShot closes every connection after one exchange. The request has to
	// say so in its Connection field.
	OneShot bool

	// MaxIdle is the number of connections kept for later.
	MaxIdle int

	// MaxResponse is the number of body bytes read from a response. The
	// connection of a larger one is closed.
	MaxResponse int64

	mu     sync.Mutex
	idle   []*conn // most recently used last
	reaper *time.Timer
	closed bool

	refusal atomic.Pointer[refusal]
}

// refusal is a failure to connect, which stands for a moment: a server that is
// down costs no attempt per request.
type refusal struct {
	until time.Time
	err   *Error
}

// Request is a request ready to be sent.
type Request struct {
	// Head is the request line and the header, blank line included; a short
	// body may follow right there.
	Head []byte

	// Body is sent after Head, and Tail after Body.
	Body, Tail []byte

	// BodilessResponse is set for HEAD: the response has no body, whatever
	// its header says.
	BodilessResponse bool
}

// Exchange sends a request and reads its response, all before the deadline, but
// for a moment to read what is there if sending took until then. It returns the response's status, or an *Error that tells what failed.
func (c *Client) Exchange(req Request, deadline time.Time) (status int, err error) {
	conn := c.take(time.Now())
	if conn == nil {
		if conn, err = c.dial(deadline); err != nil {
			return 0, err
		}
	}
	if err := conn.SetDeadline(deadline); err != nil {
		conn.Close()
		return 0, &Error{Send, err}
	}
	sendErr := conn.send(req)
	if sendErr != nil {
		_ = conn.SetReadDeadline(time.Now().Add(answerGrace))
	}
	status, reusable, err := conn.receive(req.BodilessResponse, c.MaxResponse)
	switch {
	case err != nil && sendErr != nil:
		err = sendErr // the lack of an answer is only its consequence
		fallthrough
	case err != nil || sendErr != nil || !reusable || c.OneShot:
		conn.Close()
	default:
		c.put(conn)
	}
	return status, err
}

func (c *Client) dial(deadline time.Time) (*conn, error) {
	if last := c.refusal.Load(); last != nil {
		if time.Now().Before(last.until) {
			return nil, last.err
		}
		c.refusal.CompareAndSwap(last, nil)
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, c.Network, c.Address)
	if err != nil {
		failed := &Error{Connect, err}
		if !failed.Timeout() {
			c.refusal.Store(&refusal{until: time.Now().Add(dialPause), err: failed})
		}
		return nil, failed
	}
	if c.TLS == nil {
		return newConn(plain, plain), nil
	}
	secure := tls.Client(plain, c.TLS)
	if err := secure.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, &Error{Handshake, err}
	}
	return newConn(secure, plain), nil
}
