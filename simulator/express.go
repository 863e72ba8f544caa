// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// ServeExpress answers a request of a connection that was taken over. The
// recipe API is left to Caddy's path, and so are mappings that may ask which
// client a proxy has named.
func (h *Handler) ServeExpress(x *express.Exchange) bool {
	if _, ok := h.apiPath(x.Path); ok || h.mappings != nil && x.Forwarded() {
		return false
	}
	a, err := h.decideExpress(x)
	if err != nil {
		refuse(x, err)
		return true
	}
	h.debug(x.Method, x.Target, &a)
	if err := readExpress(x); err != nil {
		refuse(x, caddyhttp.Error(http.StatusBadRequest, err))
		return true
	}
	if a.Latency > 0 && !x.Sleep(a.Latency-time.Since(x.Started)) {
		return true
	}
	switch {
	case a.Fault != response.NoFault:
		failExpress(x, &a)
	case a.Streams():
		streamExpress(x, &a)
	case a.Content.Memory != nil:
		x.RespondFrom(a.Status, fieldsOf(a.Message), a.Content.Memory, int(a.Content.Size))
	default:
		x.Respond(a.Status, fieldsOf(a.Message), a.Content.Parts...)
	}
	return true
}

// fieldsOf returns the header fields as a connection that was taken over sends
// them.
func fieldsOf(m *response.Message) *express.Fields { return m.Wire(encodeFields).(*express.Fields) }

func encodeFields(m *response.Message) any {
	all := new(express.Fields)
	for _, field := range m.Fields {
		for _, value := range field.Values {
			all.Add(field.Name, value)
		}
	}
	return all
}

// decideExpress says what a request is answered.
func (h *Handler) decideExpress(x *express.Exchange) (response.Response, error) {
	if h.mappings == nil {
		return h.decideByRecipe(x.Path), nil
	}
	request := &wiremock.Request{
		Method:   x.Method,
		Target:   x.Target,
		Host:     x.Host,
		Scheme:   "http",
		Header:   x,
		ReadBody: func() ([]byte, error) { return readWhole(x) },
	}
	if x.TLS != nil {
		request.Scheme = "https"
	}
	request.ClientIP, _, _ = net.SplitHostPort(x.Remote)
	return h.decideByMapping(request, x.Path)
}

// readExpress reads the body before the answer is made, as far as serve does.
func readExpress(x *express.Exchange) error {
	if x.Length <= mostRead {
		return x.Discard()
	}
	_, err := io.CopyN(io.Discard, x, mostRead)
	if err == io.EOF {
		return nil // a mapping has read it
	}
	return err
}

// refuse answers as Caddy does when a handler fails.
func refuse(x *express.Exchange, err error) {
	status := http.StatusInternalServerError
	if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = failed.StatusCode
	}
	x.Respond(status, nil)
}

// streamExpress sends an answer whose body is a file or takes its time.
func streamExpress(x *express.Exchange, a *response.Response) {
	body, size, err := a.Content.Open()
	if err != nil {
		refuse(x, err)
		return
	}
	defer body.Close()
	x.Start(a.Status, fieldsOf(a.Message), size)
	if x.Method == http.MethodHead {
		return
	}
	begun := time.Now()
	plan := a.Pace.Plan(size)
	for {
		due, n, more := plan.Next(time.Since(begun))
		if !more || !x.Sleep(due-time.Since(begun)) {
			return
		}
		if _, err := io.CopyN(x, body, n); err != nil {
			return
		}
	}
}
