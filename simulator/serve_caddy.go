// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/reply"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// onCaddy is an exchange on Caddy's path.
type onCaddy struct {
	w       http.ResponseWriter
	r       *http.Request
	since   time.Time
	keeps   bool // the body, for the upstream of on_miss
	read    bool // all of the body is
	started bool // the head is written

	response response.Response
}

// spare are exchanges that no request has, all empty.
var spare = sync.Pool{New: func() any { return new(onCaddy) }}

// serveOnCaddy answers a request on Caddy's path.
func (h *Handler) serveOnCaddy(w http.ResponseWriter, r *http.Request) error {
	x := spare.Get().(*onCaddy)
	x.w, x.r, x.since = w, r, time.Now()
	x.keeps = h.missed != nil || h.mappings.Proxies()
	err := h.serve(x, &x.response)
	*x = onCaddy{}
	spare.Put(x)
	if err == errMissed { //nolint:errorlint // never wrapped
		return h.passOn(w, r)
	}
	if p, ok := err.(*proxied); ok { //nolint:errorlint // never wrapped
		return h.passTo(w, r, p)
	}
	return err
}

func (x *onCaddy) method() string     { return x.r.Method }
func (x *onCaddy) target() string     { return x.r.RequestURI }
func (x *onCaddy) path() string       { return x.r.URL.Path }
func (x *onCaddy) arrived() time.Time { return x.since }

// Get is part of scenario.Fields.
func (x *onCaddy) Get(name string) string {
	if name == "Host" {
		return x.r.Host
	}
	if values := x.r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// ClientIP is part of scenario.Fields.
func (x *onCaddy) ClientIP() string { return clientIP(x.r) }

// EachField is part of stubs.Source.
func (x *onCaddy) EachField(visit func(name, value string)) {
	visit("Host", x.r.Host)
	for name, values := range x.r.Header {
		for _, value := range values {
			visit(name, value)
		}
	}
}

// Protocol is part of stubs.Source.
func (x *onCaddy) Protocol() string { return x.r.Proto }

func (x *onCaddy) stubRequest(request *wiremock.Request) {
	r := x.r
	request.Method, request.Target, request.Host, request.Scheme = r.Method, r.RequestURI, r.Host, "http"
	request.Header, request.Server = r.Header, x
	if r.TLS != nil {
		request.Scheme = "https"
	}
}

// ReadBody reads the body for mappings.
func (x *onCaddy) ReadBody() ([]byte, error) {
	data, err := readWhole(x.r.Body, x.r.ContentLength)
	x.read = err == nil
	if x.keeps {
		keepBody(x.r, data)
	}
	return data, err
}

// clientIP returns the client that Caddy takes for the one behind trusted
// proxies.
func clientIP(r *http.Request) string {
	if ip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string); ok {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func (x *onCaddy) passesOn() bool { return true }

func (x *onCaddy) note(d decision) {
	if extra := x.extraFields(); extra != nil {
		extra.Set(zap.Object("simulator", d))
	}
}

func (x *onCaddy) noteMissed() {
	if extra := x.extraFields(); extra != nil {
		extra.Set(zap.Object("simulator", passedOn{}))
	}
}

// extraFields returns what can be added to the access log's entry; nil if the
// server has no such log.
func (x *onCaddy) extraFields() *caddyhttp.ExtraLogFields {
	ctx := x.r.Context()
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Logs == nil {
		return nil
	}
	extra, _ := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields)
	return extra
}

func (x *onCaddy) readBody() error {
	if x.r.ContentLength == 0 || x.read {
		return nil
	}
	_, err := io.Copy(io.Discard, io.LimitReader(x.r.Body, mostRead))
	return err
}

// timers are those that no request is waiting for.
var timers = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}

// statusClientLeft is what is logged for a client that did not wait.
const statusClientLeft = 499

func (x *onCaddy) sleep(d time.Duration) error {
	if x.started {
		if err := http.NewResponseController(x.w).Flush(); err != nil {
			return err
		}
	}
	return sleep(x.r.Context(), d)
}

// sleep waits, but neither for a client that has left nor when Caddy exits.
func sleep(ctx context.Context, d time.Duration) error {
	timer := timers.Get().(*time.Timer)
	timer.Reset(d)
	defer func() {
		timer.Stop()
		timers.Put(timer)
	}()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return caddyhttp.Error(statusClientLeft, ctx.Err())
	case <-lifecycle.Exits():
		panic(http.ErrAbortHandler) // breaks off the connection without a response
	}
}

func (x *onCaddy) respond(m *response.Message) { reply.Write(x.w, x.r, m) }

func (x *onCaddy) start(m *response.Message, size int64) io.Writer {
	reply.SetHeader(x.w.Header(), m, x.r.ProtoMajor)
	if m.Content.File != "" && !m.Chunked {
		x.w.Header()["Content-Length"] = []string{strconv.FormatInt(size, 10)}
	}
	x.w.WriteHeader(m.Status)
	x.started = true
	return x.w
}

// end makes net/http send what it might hold back to find out a length.
func (x *onCaddy) end() error {
	return http.NewResponseController(x.w).Flush()
}

func (x *onCaddy) hang() error {
	select {
	case <-x.r.Context().Done():
	case <-lifecycle.Exits():
	}
	panic(http.ErrAbortHandler)
}

func (x *onCaddy) reset() error {
	return x.hijack(func(conn net.Conn) { express.Reset(conn) })
}

func (x *onCaddy) breakOff(raw []byte) error {
	if x.started {
		if err := http.NewResponseController(x.w).Flush(); err != nil {
			return nil // the client has left
		}
	}
	return x.hijack(func(conn net.Conn) { _, _ = conn.Write(raw) })
}

// malformed sends, on a stream of HTTP/2 or 3, the head and bytes of a body and
// ends the stream with an error.
func (x *onCaddy) malformed(m *response.Message, bytes []byte) error {
	header := x.w.Header()
	if x.r.ProtoMajor > 1 {
		reply.SetHeader(header, m, x.r.ProtoMajor)
		header.Del("Content-Length")
		x.w.WriteHeader(m.Status)
		_, _ = x.w.Write(bytes)
		_ = http.NewResponseController(x.w).Flush()
	}
	return x.hijack(func(conn net.Conn) {
		out := bufio.NewWriter(conn)
		writeMalformed(out, header, m, bytes)
		_ = out.Flush()
	})
}

// hijack calls do with the connection, which is closed then. A stream of HTTP/2
// or 3 ends with an error instead.
func (x *onCaddy) hijack(do func(net.Conn)) error {
	if x.r.ProtoMajor > 1 {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return fmt.Errorf("taking over the connection for a fault: %v", err)
	}
	defer conn.Close()
	do(conn)
	return nil
}
