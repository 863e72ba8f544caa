// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// Client sends requests over one connection at a time, which it opens when it
// is needed. It is for one goroutine.
type Client struct {
	// Capture keeps what came of the response to the last Send: if redirects
	// were followed, of the last one. nil, the default: nothing is kept. Over
	// HTTP/2 its head has a status line of HTTP/2.0 and its fields by name.
	Capture *http1.Capture
	// Redirected is called before a redirect is followed, from where to where, and
	// may change the header fields that go there, unless it is nil. Capture has the
	// response that leads there.
	Redirected func(from, to *url.URL, headers []byte) []byte

	dialer *Dialer
	ctx    context.Context
	place  *place // nil: the connection is its own
	conn   connection
	used   time.Time // when the connection carried its last response
	opened time.Time // when the connection was opened
}

// connection carries one request at a time.
type connection interface {
	// exchange sends a message and reads the response to its end. The
	// connection can be used again if it reports so. The capture may be nil, and
	// is empty.
	exchange(m *Message, to address, deadline time.Time, capture *http1.Capture) (resp Response, reusable bool, err error)
	// stale reports whether the other side has ended the idle connection.
	stale() bool
	close()
}

// address is what a target changes of the messages to it.
type address struct {
	base string // the path before theirs
	host string // empty: their own
}

// Response is what came back.
type Response struct {
	// Status is the final status, within 200 and 999.
	Status int
	// Sent and Received are the bytes of the request and of the response.
	Sent, Received int64
	// BodySize is the bytes of the response's body, without its framing.
	BodySize int64
	// Location is where a redirect leads.
	Location string
	// Date is when the server says that it responded, in seconds since 1970; 0 if
	// it does not.
	Date int64
	// GRPC is the grpc-status of a response of gRPC, over HTTP/2 and HTTP/3.
	GRPC string
	// Ended is when the response was complete, or when it was clear that there
	// will be none.
	Ended time.Time
}

// isFinal reports whether a status can be that of the response to a request.
func isFinal(status int) bool { return status >= 200 && status <= 999 }

// settled is how long a connection must have been idle to be looked at before
// it is used again for a request that may be sent twice: servers seldom end
// connections that were just in use, and looking costs a system call.
const settled = time.Millisecond

// NewClient returns a client whose connections end with ctx.
func NewClient(ctx context.Context, dialer *Dialer) *Client {
	return &Client{dialer: dialer, ctx: ctx, place: dialer.newPlace()}
}

// open opens a connection, or joins the one that the client shares with others.
func (c *Client) open(deadline time.Time) (connection, error) {
	if c.place != nil {
		return c.place.join(func() (connection, error) { return c.dialer.open(c.ctx, deadline) })
	}
	return c.dialer.open(c.ctx, deadline)
}

// Close closes the connection.
func (c *Client) Close() {
	if c.conn != nil {
		c.conn.close()
		c.conn = nil
	}
}

// Send sends a message and reads its response to the end, from now on at most
// for the timeout. The error is an *http1.Error.
//
// A connection that turns out to have ended before any byte of the response came
// is replaced once, if the request may be sent twice by the rules of HTTP.
func (c *Client) Send(m *Message, now time.Time) (Response, error) {
	deadline := now.Add(c.dialer.options.Timeout)
	resp, err := c.sendOnce(m, now, deadline)
	if err == nil && resp.Location != "" && c.dialer.options.Redirects > 0 {
		resp, err = c.follow(m, resp, deadline)
	}
	resp.Ended = c.used
	if err != nil && c.ctx.Err() != nil {
		err = fail(http1.Interrupted, err)
	}
	return resp, err
}

// sendOnce sends one message, and follows no redirect.
func (c *Client) sendOnce(m *Message, now, deadline time.Time) (Response, error) {
	if refresh := c.dialer.options.Refresh; c.conn != nil && refresh > 0 && now.Sub(c.opened) >= refresh {
		c.Close()
	}
	if c.conn != nil && (now.Sub(c.used) > settled || !m.idempotent()) && c.conn.stale() {
		c.Close()
	}
	reused := c.conn != nil
	resp, err := c.attempt(m, deadline)
	if err != nil && reused && c.ctx.Err() == nil && repeatable(m, err) {
		resp, err = c.attempt(m, deadline)
	}
	c.used = time.Now()
	return resp, err
}

// errUnsent is the error where the server has not looked at the request.
var errUnsent = errors.New("the connection had ended")

// repeatable reports whether a request whose connection had ended may be sent
// again: if the server has not looked at it, or if no byte of a response came and
// twice is as good as once.
func repeatable(m *Message, err error) bool {
	kind := http1.KindOf(err)
	return errors.Is(err, errUnsent) || m.idempotent() && (kind == http1.Closed || kind == http1.Reset)
}

// attempt sends a message over the connection at hand or a new one.
func (c *Client) attempt(m *Message, deadline time.Time) (Response, error) {
	if c.Capture != nil {
		c.Capture.Reset()
	}
	if c.conn == nil {
		conn, err := c.open(deadline)
		if err != nil {
			return Response{}, err
		}
		c.conn, c.opened = conn, time.Now()
	}
	host := ""
	if c.dialer.options.TargetHost || len(m.Host) == 0 {
		host = c.dialer.target.Host
	}
	resp, reusable, err := c.conn.exchange(m, address{c.dialer.target.Base, host}, deadline, c.Capture)
	if !reusable || c.dialer.options.NoKeepAlive {
		c.Close()
	}
	return resp, err
}

// wholeCopy is the size up to which a message that gets another host is copied
// with its body, to leave in one piece.
const wholeCopy = 16 << 10

// connection1 is a connection of HTTP/1.1, over which messages go as they are.
type connection1 struct {
	*http1.Conn
	release func() bool // from the context that ends the connection
	buf     []byte      // for messages that get another host
}

func newConnection1(ctx context.Context, conn *http1.Conn) *connection1 {
	return &connection1{Conn: conn, release: context.AfterFunc(ctx, conn.Abort)}
}

func (c *connection1) close() {
	c.release()
	c.Close()
}

func (c *connection1) stale() bool { return c.Stale() }

func (c *connection1) exchange(m *Message, to address, deadline time.Time, capture *http1.Capture) (Response, bool, error) {
	req := http1.Request{Head: m.wire}
	if to.host != "" || to.base != "" {
		end := len(m.wire)
		if end > wholeCopy {
			end = m.bodyAt
		}
		c.buf = m.addressed(c.buf[:0], to.base, to.host, end)
		req.Head, req.Body = c.buf, m.wire[end:]
	}
	got, err := c.Exchange(&req, deadline, capture)
	resp := Response{Status: got.Status, Sent: got.Sent, Received: got.Received, BodySize: got.BodySize, Location: got.Location, Date: got.Date}
	if err == nil && !isFinal(got.Status) {
		err = fail(http1.Malformed, fmt.Errorf("a response of %d that was not asked for", got.Status))
	}
	return resp, got.Reusable && err == nil, err
}
