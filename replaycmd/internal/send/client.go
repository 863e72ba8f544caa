// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"errors"
	"time"
)

// Client sends requests over one connection at a time, which it opens when it
// is needed. It is for one goroutine.
type Client struct {
	dialer *Dialer
	ctx    context.Context
	conn   connection
	used   time.Time // when the connection carried its last answer
}

// settled is how long a connection must have been idle to be looked at before
// it is used again: servers don't end connections that were just in use.
const settled = time.Millisecond

// NewClient gives a client whose connections end with ctx.
func NewClient(ctx context.Context, dialer *Dialer) *Client {
	return &Client{dialer: dialer, ctx: ctx}
}

// Close closes the connection.
func (c *Client) Close() {
	if c.conn != nil {
		c.conn.close()
		c.conn = nil
	}
}

// Send sends a message and reads its answer to the end, from now on at most
// for the timeout. The error is an *Error.
//
// A connection that turns out to have ended before any byte of the answer came
// is replaced once, if the request may be sent twice by the rules of HTTP.
func (c *Client) Send(m *Message, now time.Time) (Answer, error) {
	deadline := now.Add(c.dialer.options.Timeout)
	answer, err := c.sendOnce(m, now, deadline)
	if err == nil && answer.Location != "" && c.dialer.options.Redirects > 0 {
		answer, err = c.follow(m, answer, deadline)
	}
	answer.Ended = c.used
	if err != nil && c.ctx.Err() != nil {
		err = fail(Interrupted, err)
	}
	return answer, err
}

// sendOnce sends one message, follow-ups not included.
func (c *Client) sendOnce(m *Message, now, deadline time.Time) (Answer, error) {
	if c.conn != nil && now.Sub(c.used) > settled && c.conn.stale() {
		c.Close()
	}
	reused := c.conn != nil
	answer, err := c.attempt(m, deadline)
	if err != nil && reused && c.ctx.Err() == nil && again(m, err) {
		answer, err = c.attempt(m, deadline)
	}
	c.used = time.Now()
	return answer, err
}

// errUnsent says that the server has not looked at the request.
var errUnsent = errors.New("the connection had ended")

// again says whether a request whose connection had ended may be sent again: if
// the server has not looked at it, or if no byte of an answer came and twice is as good
// as once.
func again(m *Message, err error) bool {
	kind := KindOf(err)
	return errors.Is(err, errUnsent) || m.idempotent() && (kind == Closed || kind == Reset)
}

// attempt sends a message over the connection at hand or a new one.
func (c *Client) attempt(m *Message, deadline time.Time) (Answer, error) {
	if c.conn == nil {
		conn, err := c.dialer.open(c.ctx, deadline)
		if err != nil {
			return Answer{}, err
		}
		c.conn = conn
	}
	host := ""
	if c.dialer.options.TargetHost || len(m.Host) == 0 {
		host = c.dialer.target.Host
	}
	answer, again, err := c.conn.exchange(m, host, deadline)
	if !again || c.dialer.options.NoKeepAlive {
		c.Close()
	}
	return answer, err
}
