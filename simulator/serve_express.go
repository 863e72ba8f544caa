// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
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

// onExpress is an exchange on a connection that was taken over.
type onExpress struct{ *express.Exchange }

// takeOver takes the connection of a request over, and reports whether it did.
func (h *Handler) takeOver(w http.ResponseWriter, r *http.Request) bool {
	return !(h.asksForClients() && express.Forwarded(r)) && h.pool.TakeOver(w, r)
}

// asksForClients reports whether mappings or recipes may ask which client a
// proxy has named, which Caddy knows.
func (h *Handler) asksForClients() bool { return h.mappings != nil || h.scenario.AsksForClients() }

// ServeExpress answers a request of a connection that was taken over. The
// recipe API is left to Caddy's path, and so is what takeOver does not take.
func (h *Handler) ServeExpress(x *express.Exchange) bool {
	if _, ok := h.apiPath(x.Path); ok || h.asksForClients() && x.Forwarded() {
		return false
	}
	if err := h.serve(onExpress{x}); err != nil && err != errLeft {
		status := http.StatusInternalServerError
		if failed, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
			status = failed.StatusCode
		}
		x.Respond(status, nil) // as Caddy does
	}
	return true
}

// errLeft is that of a sleep which has ended the connection.
var errLeft = errors.New("the client has left, or Caddy exits")

func (x onExpress) method() string     { return x.Method }
func (x onExpress) target() string     { return x.Target }
func (x onExpress) path() string       { return x.Path }
func (x onExpress) arrived() time.Time { return x.Started }

// ClientIP is part of scenario.Fields.
func (x onExpress) ClientIP() string {
	ip, _, _ := net.SplitHostPort(x.Remote)
	return ip
}

func (x onExpress) stubRequest() *wiremock.Request {
	request := &wiremock.Request{
		Method:   x.Method,
		Target:   x.Target,
		Host:     x.Host,
		Scheme:   "http",
		Header:   x.Exchange,
		ClientIP: x.ClientIP(),
		ReadBody: func() ([]byte, error) { return readWhole(x.Exchange) },
	}
	if x.TLS != nil {
		request.Scheme = "https"
	}
	return request
}

func (onExpress) note(decision) {}

func (x onExpress) readBody() error {
	if x.Length <= mostRead {
		return x.Discard()
	}
	_, err := io.CopyN(io.Discard, x.Exchange, mostRead)
	if err == io.EOF {
		return nil // a mapping has read it
	}
	return err
}

func (x onExpress) sleep(d time.Duration) error {
	if !x.Sleep(d) {
		return errLeft
	}
	return nil
}

func (x onExpress) respond(m *response.Message) {
	if m.Content.Memory != nil {
		x.RespondFrom(m.Status, fieldsOf(m), m.Content.Memory, int(m.Content.Size))
	} else {
		x.Respond(m.Status, fieldsOf(m), m.Content.Parts...)
	}
}

func (x onExpress) start(m *response.Message, size int64) io.Writer {
	if m.Chunked {
		size = express.UnknownLength
	}
	x.Start(m.Status, fieldsOf(m), size)
	return x.Exchange
}

func (x onExpress) end() error {
	x.End()
	return nil
}

func (x onExpress) hang() error {
	for x.Sleep(time.Hour) && x.Watched() {
	}
	return nil
}

func (x onExpress) reset() error {
	x.Reset()
	return nil
}

func (x onExpress) breakOff(raw []byte) error {
	_, _ = x.Conn().Write(raw)
	return nil
}

func (x onExpress) malformed(m *response.Message, bytes []byte) error {
	out := bufio.NewWriter(x.Conn())
	writeMalformed(out, make(http.Header), m, bytes)
	_ = out.Flush()
	return nil
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
