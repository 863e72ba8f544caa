// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// transport makes what opens HTTP/2 connections: over TLS, or without by prior
// knowledge.
func (d *Dialer) transport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	config := d.tls.Clone()
	config.NextProtos = []string{"h2"}
	return &http.Transport{
		Protocols:          &protocols,
		TLSClientConfig:    config,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.dial(ctx)
		},
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := d.dial(ctx)
			if err != nil {
				return nil, err
			}
			secured := tls.Client(conn, config)
			if err := secured.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, ofHandshake(err)
			}
			if secured.ConnectionState().NegotiatedProtocol != "h2" {
				secured.Close()
				return nil, fail(TLS, errors.New("the server offers no HTTP/2"))
			}
			return secured, nil
		},
	}
}

// http2 is a connection of its own, on which one request goes at a time.
type http2 struct {
	ctx    context.Context
	conn   *http.ClientConn
	scheme string
	target string // the target's host
}

func (d *Dialer) openHTTP2(ctx context.Context, life context.Context) (connection, error) {
	scheme := "http"
	if d.target.TLS {
		scheme = "https"
	}
	address := d.target.Address
	if d.target.Network != "tcp" {
		address = "localhost:80" // what is dialled doesn't depend on it
	}
	conn, err := d.http2.NewClientConn(ctx, scheme, address)
	if err != nil {
		return nil, ofDialing(err)
	}
	return &http2{ctx: life, conn: conn, scheme: scheme, target: d.target.Host}, nil
}

func (c *http2) close() { c.conn.Close() }

func (c *http2) stale() bool { return c.conn.Err() != nil }

func (c *http2) exchange(m *Message, host string, deadline time.Time) (Answer, bool, error) {
	ctx, cancel := context.WithDeadline(c.ctx, deadline)
	defer cancel()
	request := c.request(ctx, m, host)
	if err := sendable(request); err != nil {
		return Answer{}, true, err
	}
	if err := c.conn.Reserve(); err != nil {
		return Answer{}, false, fail(Closed, errors.Join(errUnsent, err))
	}
	resp, err := c.conn.RoundTrip(request)
	if err != nil {
		return Answer{}, false, c.failure(ctx, err, true)
	}
	defer resp.Body.Close()
	if !isFinal(resp.StatusCode) { // net/http takes any number
		return Answer{}, false, fail(Malformed, fmt.Errorf("its status is %d", resp.StatusCode))
	}
	answer := Answer{Status: resp.StatusCode, Sent: int64(len(m.Body))}
	if answer.Status >= 300 && answer.Status < 400 {
		answer.Location = resp.Header.Get("Location")
	}
	if answer.Status == http.StatusNotModified {
		return answer, c.conn.Err() == nil, nil // its length is that of a body that doesn't come
	}
	answer.Received, err = io.Copy(io.Discard, resp.Body)
	if err != nil {
		return answer, false, c.failure(ctx, err, false)
	}
	return answer, c.conn.Err() == nil, nil
}

// failure classifies an error: before says whether the answer has not begun.
func (c *http2) failure(ctx context.Context, err error, before bool) error {
	switch {
	case c.ctx.Err() != nil:
		return fail(Interrupted, err)
	case ctx.Err() != nil:
		return fail(Timeout, err)
	case !before:
		return within(err)
	}
	if refused(err) {
		return fail(Closed, errors.Join(errUnsent, err))
	}
	kind := ofNetwork(err, Closed)
	if kind == CutOff {
		kind = Closed
	}
	return fail(kind, err)
}

// refused says whether the server has said that it didn't look at the request:
// it is ending the connection, or had too many. net/http has these errors, but
// does not export them.
func refused(err error) bool {
	text := err.Error()
	return strings.Contains(text, "graceful shutdown GOAWAY") || strings.Contains(text, "REFUSED_STREAM") ||
		strings.Contains(text, "client conn not usable")
}
