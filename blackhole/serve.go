// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/reply"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// exchange is a request and its response, on Caddy's path or on a connection
// that was taken over.
type exchange interface {
	// context ends when nobody waits for the response any more.
	context() context.Context

	// body is that of the request, and discard reads what is left of it.
	body() io.Reader
	discard() error

	// describe fills a draft with the request's head, and describeEnd with what
	// came after its body.
	describe(d *record.Draft)
	describeEnd(d *record.Draft)

	respond(m *response.Message)
}

// serve reads, records and acknowledges a request. The error is one for Caddy
// to answer. As a type parameter, an exchange stays off the heap.
func serve[X exchange](h *Handler, x X) error {
	h.requests.Inc()
	if err := read(h, x); err != nil {
		return bodyError(err)
	}
	x.respond(h.response)
	return nil
}

// read takes in the whole request.
func read[X exchange](h *Handler, x X) error {
	if h.recorder == nil || !h.Percent.Takes(rand.Uint64()) {
		return x.discard()
	}
	draft := h.recorder.Begin()
	defer draft.Release()
	x.describe(draft)
	err := draft.ReadBody(x.context(), x.body())
	if err != nil {
		draft.BrokeOff(record.Cause(err))
	}
	x.describeEnd(draft)
	draft.Add(x.context())
	return err
}

// bodyError returns the error for a request whose body could not be read: the
// one of a handler that limits bodies, or that the client broke off.
func bodyError(err error) error {
	if _, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return caddyhttp.Error(http.StatusRequestEntityTooLarge, err)
	}
	return caddyhttp.Error(http.StatusBadRequest, err)
}

// ServeHTTP reads, records and acknowledges the request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if h.pool.TakeOver(w, r) {
		return nil
	}
	return serve(h, onCaddy{w, r})
}

// onCaddy is an exchange on Caddy's path.
type onCaddy struct {
	w http.ResponseWriter
	r *http.Request
}

func (x onCaddy) context() context.Context    { return x.r.Context() }
func (x onCaddy) body() io.Reader             { return x.r.Body }
func (x onCaddy) describe(d *record.Draft)    { record.Describe(d, x.r) }
func (x onCaddy) describeEnd(d *record.Draft) { record.DescribeTrailers(d, x.r.Trailer) }

func (x onCaddy) discard() error {
	_, err := io.Copy(io.Discard, x.r.Body)
	return err
}

// respond sends the response; that to CONNECT has no body, and what comes next
// on its connection is meant for a tunnel.
func (x onCaddy) respond(m *response.Message) {
	if x.r.Method != http.MethodConnect {
		reply.Write(x.w, x.r, m)
		return
	}
	header := x.w.Header()
	reply.SetHeader(header, m, x.r.ProtoMajor)
	if x.r.ProtoMajor == 1 {
		header.Set("Connection", "close")
		header.Del("Content-Length")
	}
	x.w.WriteHeader(m.Status)
}

// TakesExpress takes every request.
func (h *Handler) TakesExpress(*express.Exchange) bool { return true }

// ServeExpress reads, records and acknowledges a request of a connection that
// was taken over.
func (h *Handler) ServeExpress(x *express.Exchange) {
	if err := serve(h, onExpress{x}); err != nil {
		reply.ExpressError(x, err)
	}
}

// onExpress is an exchange on a connection that was taken over.
type onExpress struct{ *express.Exchange }

// context never ends: what it would end ends with the connection.
func (onExpress) context() context.Context      { return context.Background() }
func (x onExpress) body() io.Reader             { return x.Exchange }
func (x onExpress) discard() error              { return x.Discard() }
func (x onExpress) describe(d *record.Draft)    { record.DescribeExpress(d, x.Exchange) }
func (onExpress) describeEnd(*record.Draft)     {} // chunked bodies are Caddy's, and so are trailers
func (x onExpress) respond(m *response.Message) { reply.Express(x.Exchange, m) }
