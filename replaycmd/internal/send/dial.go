// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Options say how requests are sent.
type Options struct {
	// Timeout bounds one request: connecting, sending and the whole answer.
	Timeout time.Duration
	// Insecure accepts any certificate.
	Insecure bool
	// HTTP2 speaks HTTP/2, without TLS by prior knowledge.
	HTTP2 bool
	// NoKeepAlive opens a connection for each request.
	NoKeepAlive bool
	// Redirects is how many redirects of one request are followed.
	Redirects int
	// TargetHost gives every request the target's host instead of its own.
	TargetHost bool
	// ServerName is the name asked for in TLS and expected in the
	// certificate, with or without a port. Default: the target's host.
	ServerName string
}

// Dialer opens the connections to one target. A name is resolved for each, so
// that new connections follow it when it moves.
type Dialer struct {
	target  Target
	options Options
	tls     *tls.Config
	http2   *http.Transport
	opened  atomic.Int64
}

// NewDialer prepares connections to a target.
func NewDialer(target Target, options Options) *Dialer {
	d := &Dialer{target: target, options: options}
	d.tls = &tls.Config{
		ServerName:         hostname(orElse(options.ServerName, target.Host)),
		InsecureSkipVerify: options.Insecure, //nolint:gosec // asked for
		NextProtos:         []string{"http/1.1"},
	}
	if options.HTTP2 {
		d.http2 = d.transport()
	}
	return d
}

// hostname takes the port and the brackets off.
func hostname(hostport string) string {
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		return name
	}
	if len(hostport) > 1 && hostport[0] == '[' {
		return hostport[1 : len(hostport)-1]
	}
	return hostport
}

// Opened is how many connections were opened.
func (d *Dialer) Opened() int64 { return d.opened.Load() }

// dial opens a connection, without TLS.
func (d *Dialer) dial(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, d.target.Network, d.target.Address)
	if err == nil {
		d.opened.Add(1)
	}
	return conn, err
}

// open opens a connection and readies it for requests. The connection ends
// with ctx; the deadline is for opening it.
func (d *Dialer) open(ctx context.Context, deadline time.Time) (connection, error) {
	dialing, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if d.http2 != nil {
		return d.openHTTP2(dialing, ctx)
	}
	conn, err := d.dial(dialing)
	if err != nil {
		return nil, ofDialing(err)
	}
	raw := conn
	if d.target.TLS {
		secured := tls.Client(conn, d.tls)
		if err := secured.HandshakeContext(dialing); err != nil {
			conn.Close()
			return nil, ofHandshake(err)
		}
		conn = secured
	}
	return newHTTP1(ctx, conn, raw), nil
}

// ofHandshake classifies an error of the handshake.
func ofHandshake(err error) *Error {
	if kind := ofNetwork(err, TLS); kind == Timeout || kind == Interrupted {
		return fail(kind, err)
	}
	return fail(TLS, err)
}
