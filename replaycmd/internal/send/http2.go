// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// transport returns what opens HTTP/2 connections: over TLS, or without by prior
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
				return nil, http1.HandshakeError(err)
			}
			if secured.ConnectionState().NegotiatedProtocol != "h2" {
				secured.Close()
				return nil, fail(http1.TLS, errors.New("the server offers no HTTP/2"))
			}
			return secured, nil
		},
	}
}

// dial opens a connection without TLS.
func (d *Dialer) dial(ctx context.Context) (net.Conn, error) {
	return d.http1.Source().DialContext(ctx, d.target.Network, d.target.Address)
}

// http2 is a connection of HTTP/2 or HTTP/3. Requests of several clients go over it
// at once if they share it.
type http2 struct {
	ctx    context.Context
	conn   multiplexed
	scheme string
	target string // the target's host
}

// multiplexed is what carries the requests.
type multiplexed interface {
	RoundTrip(r *http.Request) (*http.Response, error)
	Reserve() error // a place for one more request
	Err() error     // why there is none any more
	Close() error
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
		return nil, http1.DialError(err)
	}
	d.opened.Add(1)
	return &http2{ctx: life, conn: conn, scheme: scheme, target: d.target.Host}, nil
}

func (c *http2) close() { c.conn.Close() }

func (c *http2) stale() bool { return c.conn.Err() != nil }

func (c *http2) exchange(m *Message, to address, deadline time.Time, capture *http1.Capture) (Response, bool, error) {
	ctx, cancel := context.WithDeadline(c.ctx, deadline)
	defer cancel()
	request := c.request(ctx, m, to)
	if err := checkHTTP2(request); err != nil {
		return Response{}, true, err
	}
	if err := c.conn.Reserve(); err != nil {
		return Response{}, false, fail(http1.Closed, errors.Join(errUnsent, err))
	}
	resp, err := c.conn.RoundTrip(request)
	if err != nil {
		return Response{}, false, c.failure(ctx, err, true)
	}
	defer resp.Body.Close()
	if !isFinal(resp.StatusCode) { // net/http takes any number
		return Response{}, false, fail(http1.Malformed, fmt.Errorf("its status is %d", resp.StatusCode))
	}
	got := Response{Status: resp.StatusCode, Sent: int64(len(m.Body)), Date: http1.ParseDate(resp.Header.Get("Date"))}
	if got.Status >= 300 && got.Status < 400 {
		got.Location = resp.Header.Get("Location")
	}
	if capture != nil {
		captureHead(capture, resp)
	}
	if !http1.HasBody(m.Method, got.Status) {
		return got, c.conn.Err() == nil, nil // net/http would wait for the length that a 304 has
	}
	got.BodySize, err = readBody(resp.Body, capture)
	got.Received = got.BodySize
	if err != nil {
		return got, false, c.failure(ctx, err, false)
	}
	got.GRPC = grpcStatus(resp)
	if capture != nil {
		capture.Trailers = appendFields(capture.Trailers, resp.Trailer)
	}
	return got, c.conn.Err() == nil, nil
}

// grpcStatus returns the grpc-status of a response, which is in its trailers or, if
// it has nothing else, in its header. The text is empty if it has none.
func grpcStatus(resp *http.Response) string {
	return cmp.Or(resp.Trailer.Get("Grpc-Status"), resp.Header.Get("Grpc-Status"))
}

// failure classifies an error, before the response has begun or after.
func (c *http2) failure(ctx context.Context, err error, before bool) error {
	switch {
	case c.ctx.Err() != nil:
		return fail(http1.Interrupted, err)
	case ctx.Err() != nil:
		return fail(http1.Timeout, err)
	case !before && strings.Contains(err.Error(), "received from peer"): // it reset the stream
		return fail(http1.CutOff, err)
	case !before:
		return http1.WithinResponse(err)
	}
	if refused(err) {
		return fail(http1.Closed, errors.Join(errUnsent, err))
	}
	kind := http1.KindOf(err)
	if kind == http1.CutOff || kind == http1.Malformed {
		kind = http1.Closed
	}
	return fail(kind, err)
}

// refused reports whether the server did not look at the request and said so: it
// is ending the connection, or had too many. net/http has these errors, but
// does not export them.
func refused(err error) bool {
	text := err.Error()
	return strings.Contains(text, "graceful shutdown GOAWAY") || strings.Contains(text, "REFUSED_STREAM") ||
		strings.Contains(text, "client conn not usable")
}

// request returns the message in HTTP/2's terms. Its target goes as it is: net/http
// takes scheme and host off an opaque URL and sends the rest.
func (c *http2) request(ctx context.Context, m *Message, to address) *http.Request {
	host := to.host
	if host == "" {
		host = string(m.Host)
	}
	target := http1.OriginForm(string(m.Target))
	if m.takesBase() {
		target = to.base + target
	}
	if target[0] == '/' {
		target = c.scheme + "://" + host + target
	}
	r := &http.Request{
		Method: string(m.Method),
		URL:    &url.URL{Scheme: c.scheme, Host: c.target, Opaque: target},
		Host:   host,
		Header: make(http.Header),
	}
	measured := false
	for name, value := range m.Fields() {
		switch http1.FieldOf(name) {
		case http1.ContentLength:
			measured = true
		case http1.Host, http1.TransferEncoding, http1.Connection, http1.HopByHop:
		case http1.EndToEnd, http1.Trailer, http1.TE, http1.Expect, http1.Proxy:
			key := http.CanonicalHeaderKey(string(name))
			r.Header[key] = append(r.Header[key], string(value))
		}
	}
	if _, given := r.Header["User-Agent"]; !given {
		r.Header["User-Agent"] = []string{""} // else net/http adds its own
	}
	if m.HasBody() || !measured && expectsBody(r.Method) {
		r.Body = io.NopCloser(bytes.NewReader(m.Body))
		r.ContentLength = int64(len(m.Body))
		if m.Chunked || !measured {
			r.ContentLength = -1
		}
	}
	for name, value := range m.Trailers() {
		if r.Trailer == nil {
			r.Trailer = make(http.Header)
		}
		r.Trailer.Add(string(name), string(value))
	}
	return r.WithContext(ctx)
}

// expectsBody reports whether net/http gives a request without a body a
// content-length of 0.
func expectsBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// checkHTTP2 refuses what HTTP/1.1 can carry and HTTP/2 can't, of which net/http's
// errors look like those of a connection. The error is of kind Unsendable.
func checkHTTP2(r *http.Request) error {
	host, err := httpguts.PunycodeHostPort(r.Host)
	if err != nil || !httpguts.ValidHostHeader(host) {
		return fail(http1.Unsendable, fmt.Errorf("'%s' is not a host that HTTP/2 can carry", r.Host))
	}
	path := strings.TrimPrefix(r.URL.Opaque, r.URL.Scheme+"://"+host)
	if r.Method != http.MethodConnect && path != "*" && !strings.HasPrefix(path, "/") {
		return fail(http1.Unsendable, fmt.Errorf("'%s' is not a path that HTTP/2 can carry", path))
	}
	for _, fields := range []http.Header{r.Header, r.Trailer} {
		for name, values := range fields {
			for _, value := range values {
				if !httpguts.ValidHeaderFieldValue(value) {
					return fail(http1.Unsendable, fmt.Errorf("the value of field '%s' can't go over HTTP/2", name))
				}
			}
		}
	}
	return nil
}
