// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

func fail(kind http1.Kind, err error) *http1.Error { return &http1.Error{Kind: kind, Err: err} }

// Options are how requests are sent.
type Options struct {
	// Timeout bounds one request: connecting, sending and the whole response.
	Timeout time.Duration
	// Insecure accepts any certificate.
	Insecure bool
	// HTTP2 speaks HTTP/2, without TLS by prior knowledge.
	HTTP2 bool
	// HTTP3 speaks HTTP/3, which has TLS always.
	HTTP3 bool
	// Streams is how many clients share a connection of HTTP/2 or HTTP/3. 0 is 1.
	Streams int
	// NoKeepAlive opens a connection for each request.
	NoKeepAlive bool
	// Redirects is how many redirects of one request are followed.
	Redirects int
	// TargetHost makes the target's host that of every request.
	TargetHost bool
	// ServerName is the name asked for in TLS and expected in the
	// certificate, with or without a port. Default: the target's host.
	ServerName string
	// Certificates are those of the client.
	Certificates []tls.Certificate
	// RootCAs may have signed the server's certificate. nil: the system's.
	RootCAs *x509.CertPool
	// SourceIPs are the addresses that connections come from, in turn. Without
	// any the system chooses.
	SourceIPs []net.IP
	// Refresh is the age at which a connection is opened anew. 0: at none.
	Refresh time.Duration
}

// Dialer opens the connections to one target. A name is resolved for each, so
// that new connections follow it when it moves.
type Dialer struct {
	target  Target
	options Options
	tls     *tls.Config
	http1   http1.Dialer
	http2   *http.Transport // nil: HTTP/1.1 is spoken
	opened  atomic.Int64

	mu     sync.Mutex
	places int    // that were given to clients
	last   *place // the one that more clients may share
}

// NewDialer returns a dialer of connections to a target.
func NewDialer(target Target, options Options) *Dialer {
	d := &Dialer{target: target, options: options}
	d.tls = &tls.Config{
		ServerName:         hostname(cmp.Or(options.ServerName, target.Host)),
		InsecureSkipVerify: options.Insecure, //nolint:gosec // asked for
		NextProtos:         []string{"http/1.1"},
		Certificates:       options.Certificates,
		RootCAs:            options.RootCAs,
	}
	d.http1 = http1.Dialer{Network: target.Network, Address: target.Address}
	if n := len(options.SourceIPs); n > 0 && target.Network == "tcp" {
		var dialled atomic.Uint32
		d.http1.Local = func() net.Addr { return &net.TCPAddr{IP: options.SourceIPs[int(dialled.Add(1)-1)%n]} }
	}
	if target.TLS {
		d.http1.TLS = d.tls
	}
	if options.HTTP2 {
		d.http2 = d.transport()
	}
	return d
}

// hostname returns a host without its port and brackets.
func hostname(hostport string) string {
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		return name
	}
	if len(hostport) > 1 && hostport[0] == '[' {
		return hostport[1 : len(hostport)-1]
	}
	return hostport
}

// Opened returns how many connections were opened.
func (d *Dialer) Opened() int64 { return d.opened.Load() }

// open opens a connection and readies it for requests. The connection ends
// with ctx; the deadline is for opening it.
func (d *Dialer) open(ctx context.Context, deadline time.Time) (connection, error) {
	dialing, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	switch {
	case d.options.HTTP3:
		return d.openHTTP3(dialing, ctx)
	case d.http2 != nil:
		return d.openHTTP2(dialing, ctx)
	}
	conn, err := d.http1.Dial(dialing)
	if err != nil {
		return nil, err
	}
	d.opened.Add(1)
	return newConnection1(ctx, conn), nil
}
