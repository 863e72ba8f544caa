// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maxFirstBody is how long the body of a request may be with which a connection
// is taken over: it is read whole before that.
const maxFirstBody = 1 << 20

// TakeOver takes the request's connection over if request, connection and
// handler allow it, and reports whether it did. Then the handler's ServeHTTP has to return at
// once: the request is answered through ServeExpress, as all that follow it on
// the connection. Otherwise ServeHTTP goes on as without express.
//
// A nil pool takes nothing over.
func (p *Pool) TakeOver(w http.ResponseWriter, r *http.Request) bool {
	if p == nil || p.draining.Load() || !p.suits(r) {
		return false
	}
	head := headOf(r)
	c := &conn{pool: p, buffers: noBuffers, site: r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)}
	c.x.conn, c.x.Remote, c.x.TLS = c, r.RemoteAddr, r.TLS
	if len(head) > maxHead || !c.x.parse(head) || c.x.Length != r.ContentLength { // a handler may have changed the body
		return false
	}
	if !p.handler.TakesExpress(&c.x) {
		return false
	}
	body, err := firstBody(r)
	if err != nil {
		return false
	}
	more, err := c.hijack(w)
	if err != nil {
		return false
	}
	c.prepare(w, r)
	c.preload(slices.Concat([]byte(head), body, more))
	p.add(c)
	go c.serve()
	return true
}

// prepare takes over what the connection's requests have in common.
func (c *conn) prepare(w http.ResponseWriter, r *http.Request) {
	c.bare, c.wire = isBare(c.net), wireOf(c.net)
	c.gate = gateTo(c.net.RemoteAddr())
	c.server = r.Context().Value(http.ServerContextKey).(*http.Server)
	c.host = r.Host
	c.limits = limitsOf(c.site)
	c.serverLine, c.altSvc = lines(w.Header(), "Server"), lines(w.Header(), "Alt-Svc")
	c.fillReady, c.transferReady = c.fillNow, c.transferNow
}

// suits reports whether a request may be answered without Caddy's routes.
func (p *Pool) suits(r *http.Request) bool {
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	alone := p.alone.Load()
	return r.ProtoMajor == 1 && r.ProtoMinor == 1 && !r.Close &&
		r.ContentLength >= 0 && r.ContentLength <= maxFirstBody &&
		alone != nil && (*alone)[server]
}

// headOf writes the request's head down again, to be read like the others.
func headOf(r *http.Request) string {
	var head strings.Builder
	head.WriteString(r.Method + " " + r.RequestURI + " HTTP/1.1\r\nHost: " + r.Host + "\r\n")
	_ = r.Header.Write(&head)
	head.WriteString("\r\n")
	return head.String()
}

// firstBody reads the whole body of the request. If that fails, the request is
// left with a body that returns the same bytes and the same error.
func firstBody(r *http.Request) ([]byte, error) {
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, body)
	if err == nil {
		// Once it has seen io.EOF, Caddy's read timeout sets no more deadlines.
		_, err = r.Body.Read(make([]byte, 1))
		if err == io.EOF {
			err = nil
		}
	}
	rest := io.Reader(bytes.NewReader(body[:n]))
	if err != nil {
		rest = io.MultiReader(rest, failing{err})
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{rest, r.Body}
	return body, err
}

// hijack gets the connection itself, below what handlers wrapped around the
// writer, and everything that was read from it already.
func (c *conn) hijack(w http.ResponseWriter) ([]byte, error) {
	for {
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = wrapped.Unwrap()
	}
	hijacked, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	var first []byte
	c.net, first = taken(hijacked)
	buffered, err := rw.Reader.Peek(rw.Reader.Buffered())
	return append(bytes.Clone(buffered), first...), err
}

// lines returns the lines of a field that Caddy has set already for the response.
func lines(header http.Header, name string) (all string) {
	for _, value := range header[name] {
		all += name + ": " + value + "\r\n"
	}
	return all
}

// failing is a reader that has nothing but an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
