// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"
)

// giveBack makes the server that accepted the connection serve it on, beginning
// with what is buffered, as if it had just been accepted.
func (c *conn) giveBack() {
	c.flush()
	if c.failed != nil {
		c.net.Close()
		return
	}
	if bytes.HasPrefix(c.buffered(), []byte("PRI ")) {
		c.close() // at the beginning of a connection it would be HTTP/2
		return
	}
	_ = c.net.SetDeadline(time.Time{})
	back := given{Conn: c.net, first: bytes.Clone(c.buffered())}
	c.start = c.end
	c.pool.remove(c)
	single := &single{conn: &back}
	if c.x.TLS != nil {
		single.conn = &givenTLS{back, c.x.TLS}
	}
	_ = c.server.Serve(single) // fails after the only connection was accepted
	if single.conn != nil {    // it is shutting down
		serveLast(c.server, single)
	}
}

// serveLast answers one request as the server would, were it not shutting down.
func serveLast(server *http.Server, l *single) {
	last := &http.Server{
		Handler:           server.Handler,
		ReadTimeout:       server.ReadTimeout,
		ReadHeaderTimeout: server.ReadHeaderTimeout,
		WriteTimeout:      server.WriteTimeout,
		MaxHeaderBytes:    server.MaxHeaderBytes,
		ErrorLog:          server.ErrorLog,
		ConnContext:       server.ConnContext,
	}
	last.SetKeepAlivesEnabled(false)
	_ = last.Serve(l)
}

// given is a connection that begins with bytes that were read from it before.
type given struct {
	net.Conn
	first []byte
}

func (g *given) Read(p []byte) (int, error) {
	if len(g.first) == 0 {
		return g.Conn.Read(p)
	}
	n := copy(p, g.first)
	g.first = g.first[n:]
	return n, nil
}

// CloseWrite lets a server end a connection gently.
func (g *given) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// givenTLS is a connection given back whose TLS has been set up already: it shows
// the server its state, since that one starts none.
type givenTLS struct {
	given
	state *tls.ConnectionState
}

// ConnectionState returns the state of the TLS connection, for which net/http looks.
func (g *givenTLS) ConnectionState() tls.ConnectionState { return *g.state }

// taken returns the connection below one that was given back before, and what
// is still to be read first.
func taken(c net.Conn) (net.Conn, []byte) {
	switch g := c.(type) {
	case *given:
		return g.Conn, g.first
	case *givenTLS:
		return g.Conn, g.first
	}
	return c, nil
}

// single is a listener that accepts one connection.
type single struct{ conn net.Conn }

func (s *single) Accept() (net.Conn, error) {
	c := s.conn
	if c == nil {
		return nil, io.EOF
	}
	s.conn = nil
	return c, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return nil }
