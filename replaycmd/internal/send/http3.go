// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// alivePeriod is how often an idle connection says that it is still there.
const alivePeriod = 10 * time.Second

// overQUIC is a connection of HTTP/3 with a socket of its own.
type overQUIC struct {
	*http3.ClientConn
	socket    net.PacketConn
	transport *quic.Transport
}

// openHTTP3 opens a connection of HTTP/3, which ends with life.
func (d *Dialer) openHTTP3(ctx context.Context, life context.Context) (connection, error) {
	if !d.target.TLS || d.target.Network != "tcp" {
		return nil, fail(http1.TLS, errors.New("HTTP/3 needs a target of https"))
	}
	to, err := net.ResolveUDPAddr("udp", d.target.Address)
	if err != nil {
		return nil, http1.DialError(err)
	}
	local := new(net.UDPAddr)
	if from, ok := d.http1.Source().LocalAddr.(*net.TCPAddr); ok {
		local.IP = from.IP
	}
	socket, err := net.ListenUDP("udp", local)
	if err != nil {
		return nil, http1.DialError(err)
	}
	config := d.tls.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	transport := &quic.Transport{Conn: socket}
	conn, err := transport.Dial(ctx, to, config, &quic.Config{HandshakeIdleTimeout: d.options.Timeout, KeepAlivePeriod: alivePeriod})
	if err != nil {
		transport.Close()
		socket.Close()
		return nil, quicError(ctx, err)
	}
	d.opened.Add(1)
	client := (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	return &http2{ctx: life, conn: &overQUIC{client, socket, transport}, scheme: "https", target: d.target.Host}, nil
}

// quicError classifies why there is no connection.
func quicError(ctx context.Context, err error) error {
	refused, ok := errors.AsType[*quic.TransportError](err)
	switch {
	case ok && refused.ErrorCode.IsCryptoError():
		return fail(http1.TLS, err)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled):
		return fail(http1.Interrupted, err)
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return fail(http1.Timeout, err)
	}
	if _, ok := errors.AsType[*quic.HandshakeTimeoutError](err); ok {
		return fail(http1.Timeout, err)
	}
	return http1.DialError(err)
}

// Reserve returns why there is no place for a request any more.
func (c *overQUIC) Reserve() error { return c.Err() }

// Err returns why the connection has ended, nil while it goes on.
func (c *overQUIC) Err() error {
	if c.Context().Err() == nil {
		return nil
	}
	return context.Cause(c.Context())
}

// Close closes the connection and its socket.
func (c *overQUIC) Close() error {
	return errors.Join(c.CloseWithError(0, ""), c.transport.Close(), c.socket.Close())
}
