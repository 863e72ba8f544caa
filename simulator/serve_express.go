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

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/reply"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// onExpress is an exchange on a connection that was taken over.
type onExpress struct{ *express.Exchange }

// asksForClients reports whether mappings or recipes may ask which client a
// proxy has named, which Caddy knows.
func (h *Handler) asksForClients() bool { return h.mappings != nil || h.scenario.AsksForClients() }

// TakesExpress leaves to Caddy's path the APIs, requests for which a
// proxy may have named the client if anything asks for it, and those that may
// have to be passed on, by on_miss or by a mapping.
func (h *Handler) TakesExpress(x *express.Exchange) bool {
	_, api := h.apiPath(x.Path)
	_, admin := below(x.Path, h.MappingsAdmin.prefix())
	return !api && !admin && !h.mappings.Proxies() && (!h.asksForClients() || !x.Forwarded()) && !h.missesExpress(onExpress{x})
}

// ServeExpress answers a request of a connection that was taken over.
func (h *Handler) ServeExpress(x *express.Exchange) {
	var a response.Response
	if err := h.serve(onExpress{x}, &a); err != nil && err != errLeft {
		reply.ExpressError(x, err)
	}
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

// EachField is part of stubs.Source.
func (x onExpress) EachField(visit func(name, value string)) {
	for i := range x.Fields {
		visit(x.Fields[i].Name, x.Fields[i].Value)
	}
}

// Protocol is part of stubs.Source.
func (onExpress) Protocol() string { return "HTTP/1.1" }

func (x onExpress) stubRequest(request *wiremock.Request) {
	request.Method, request.Target, request.Host, request.Scheme = x.Method, x.Target, x.Host, "http"
	request.Header, request.Server = x.Exchange, x
	if x.TLS != nil {
		request.Scheme = "https"
	}
}

// ReadBody reads the body for mappings.
func (x onExpress) ReadBody() ([]byte, error) { return readWhole(x.Exchange, x.Length) }

// passesOn is part of exchange: what has to be passed on was given back to Caddy
// before, unless its recipe went meanwhile.
func (onExpress) passesOn() bool { return false }

func (onExpress) note(decision) {}

func (onExpress) noteMissed() {}

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

func (x onExpress) respond(m *response.Message) { reply.Express(x.Exchange, m) }

func (x onExpress) start(m *response.Message, size int64) io.Writer {
	if m.Chunked {
		size = express.UnknownLength
	}
	x.Start(m.Status, reply.Fields(x.Exchange, m), size)
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
