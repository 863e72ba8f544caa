// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"crypto/tls"
	"net"
	"slices"
	"time"
)

// Exchange is one request and its answer.
type Exchange struct {
	Head

	// Started is when the request's head had arrived.
	Started time.Time

	// Remote is the client's address, as text.
	Remote string

	// TLS is the state of a TLS connection, nil on a plain one.
	TLS *tls.ConnectionState

	conn     *conn
	first    time.Time // when its first bytes had arrived
	unread   int64     // bytes of the body
	unsent   int64     // bytes of the answer's body, between Start and the last Write; negative before End
	chunked  bool      // the body goes in chunks
	bodiless bool      // what Write is given after Start is not sent
	answered bool
	last     bool // the connection ends with this exchange
}

// begin makes the exchange ready for a request whose head has been parsed.
func (x *Exchange) begin() {
	x.unread = x.Length
	x.unsent = 0
	x.chunked = false
	x.answered = false
	x.last = x.close || x.conn.pool.draining.Load()
}

// Forwarded reports whether the request has a field from which Caddy may take
// another client address than Remote, if it trusts the proxy that sent it.
func (x *Exchange) Forwarded() bool { return slices.ContainsFunc(x.conn.site.ClientIPHeaders, x.has) }

// Conn hands the connection over for an answer that is none: what is written
// to it is sent as it is, and once ServeExpress returns the connection is
// closed.
func (x *Exchange) Conn() net.Conn {
	x.answered, x.last = true, true
	x.conn.flush()
	x.conn.armWrite()
	return x.conn.net
}

// Reset breaks the connection off, so that the client sees it reset.
func (x *Exchange) Reset() {
	x.answered, x.last = true, true
	x.conn.flush() // answers to earlier requests
	Reset(x.conn.net)
}
