// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// exchange is a request and its response, on Caddy's path or on a connection
// that was taken over. What is passed to it stays off the heap only as values,
// or as pointers to what is there already.
type exchange interface {
	method() string
	target() string // as it was sent
	path() string   // decoded
	arrived() time.Time

	// scenario.Fields are what recipes look at.
	scenario.Fields

	// stubRequest makes of an empty request what mappings look at, until serving ends.
	stubRequest(*wiremock.Request)

	// stubs.Source is what the journal of mappings keeps of a request.
	stubs.Source

	// note puts the decision into the access log, if there is one.
	note(d decision)

	// passesOn reports whether Caddy's handlers can still have the request.
	passesOn() bool

	// noteMissed puts into the access log, if there is one, that the request was
	// passed on.
	noteMissed()

	// readBody reads what is left of the request's body, up to mostRead bytes.
	readBody() error

	// sleep sends what has been written of the response, then waits. An error
	// means that the client has left or that Caddy exits.
	sleep(d time.Duration) error

	// respond sends a whole response from memory.
	respond(m *response.Message)

	// start sends the head of a response of size bytes and returns where the body
	// is to be written to.
	start(m *response.Message, size int64) io.Writer

	// end sends the end of a body that start has begun.
	end() error

	// hang waits until the client leaves, without a response.
	hang() error

	// reset resets the connection.
	reset() error

	// breakOff sends bytes as they are in place of a response, or of what is left
	// of one that start has begun, then closes the connection.
	breakOff(raw []byte) error

	// malformed sends a head that announces chunks and then bytes that are none.
	malformed(m *response.Message, bytes []byte) error
}

// mostRead is how much of a request's body is read before it is answered, in
// bytes. A client that sends more may lose its connection.
const mostRead = 64 << 20

// serve answers a request as mappings and recipes say: a is where the response is
// kept meanwhile, empty at first. The error is one for Caddy to answer.
func (h *Handler) serve(x exchange, a *response.Response) error {
	more, err := h.decide(x, a)
	if err == errMissed { //nolint:errorlint // never wrapped
		x.noteMissed()
	}
	if err != nil {
		return err
	}
	if h.logger.Core().Enabled(zapcore.DebugLevel) {
		h.debug(x.method(), x.target(), a)
	}
	x.note(decisionOf(a))
	if more == nil || more.Proxy == nil {
		if err := x.readBody(); err != nil {
			return caddyhttp.Error(http.StatusBadRequest, err)
		}
	}
	if more != nil {
		return h.serveMore(x, a, more)
	}
	return answer(x, a)
}

// serveMore is the end of serve where there is more to do than to respond.
func (h *Handler) serveMore(x exchange, a *response.Response, more *stubs.More) error {
	if more.Proxy != nil {
		if err := await(x, a); err != nil {
			return err
		}
		return &proxied{more, a.Latency}
	}
	defer h.mappings.After(more) // even if the client leaves meanwhile
	return answer(x, a)
}

// await waits until a response is due.
func await(x exchange, a *response.Response) error {
	if a.Latency <= 0 {
		return nil
	}
	return x.sleep(a.Latency - time.Since(x.arrived()))
}

// answer sends a response when it is due.
func answer(x exchange, a *response.Response) error {
	if err := await(x, a); err != nil {
		return err
	}
	switch {
	case a.Fault != response.NoFault && a.Fault != response.Cut:
		return fail(x, a)
	case a.Streams():
		return stream(x, a)
	}
	x.respond(a.Message)
	return nil
}

// spareRequests are what mappings look at of requests that are answered.
var spareRequests = sync.Pool{New: func() any { return new(wiremock.Request) }}

// decide makes a what a request is answered, by the mappings, else by the recipes,
// and returns what else there is to do. The error is errMissed if neither holds and
// the request can be passed on.
func (h *Handler) decide(x exchange, a *response.Response) (more *stubs.More, err error) {
	if h.mappings != nil {
		return h.decideByMappings(x, a)
	}
	return nil, h.decideByRecipes(x, a)
}

// decideByMappings is decide where there are mappings. It and what it calls leave
// little on the stack: that of each connection is cut to half whenever memory is
// collected while it waits, and grows again where the next request does not fit.
func (h *Handler) decideByMappings(x exchange, a *response.Response) (*stubs.More, error) {
	request := spareRequests.Get().(*wiremock.Request)
	x.stubRequest(request)
	more, found, err := h.mappings.Decide(request, x, a)
	if !found && err == nil {
		err = h.decideUnmatched(x, request, a)
	}
	*request = wiremock.Request{} // a body may be large
	spareRequests.Put(request)
	if err != nil {
		err = tooMuch(err)
	}
	return more, err
}

// decideByRecipes is decide where there are no mappings.
func (h *Handler) decideByRecipes(x exchange, a *response.Response) error {
	if h.decideByRecipe(x, a) {
		return nil
	}
	if h.missed != nil && x.passesOn() {
		return errMissed
	}
	*a = h.scenario.NotSet(x.path(), h.postTo())
	return nil
}

// decideByRecipe is decide for the recipes, and reports whether one holds.
func (h *Handler) decideByRecipe(x exchange, a *response.Response) (found bool) {
	*a, found = h.scenario.Decide(scenario.Request{Method: x.method(), Path: x.path(), Target: x.target(), Fields: x})
	return found
}

// decideUnmatched is decide for a request that no mapping matches.
func (h *Handler) decideUnmatched(x exchange, request *wiremock.Request, a *response.Response) error {
	switch {
	case h.decideByRecipe(x, a):
	case h.missed != nil && x.passesOn():
		h.mappings.Missed(request, x, nil)
		return errMissed
	default:
		*a = h.mappings.Unmatched(request, x)
	}
	return nil
}

// mostAnnounced is up to which size, in bytes, memory is taken for a body that is
// announced and not yet sent.
const mostAnnounced = 64 << 10

// readWhole reads the body for mappings that look at it. Its size is what the client
// has announced; negative, if it has not.
func readWhole(body io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		size = 1 << 10
	}
	data := make([]byte, 0, min(size, mostAnnounced)+1) // the end is found without more room
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > mostRead:
			return nil, caddyhttp.Error(http.StatusRequestEntityTooLarge, fmt.Errorf("a mapping looks at the body, which is larger than %d bytes", mostRead))
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, caddyhttp.Error(http.StatusBadRequest, err)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// debug logs what was decided for a request, at the debug level.
func (h *Handler) debug(method, uri string, a *response.Response) {
	if c := h.logger.Check(zapcore.DebugLevel, "answering"); c != nil {
		c.Write(zap.String("method", method), zap.String("uri", uri),
			zap.Int("status", a.Status), zap.Object("simulator", decisionOf(a)))
	}
}

// decision is what is logged of a response. It is a copy, so that a response
// that nothing logs stays off the heap.
type decision struct {
	route   string
	stage   int
	branch  int
	latency time.Duration
	fault   response.Fault
}

func decisionOf(a *response.Response) decision {
	return decision{a.Route, a.Stage, a.Branch, a.Latency, a.Fault}
}

// MarshalLogObject writes it.
func (d decision) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("route", d.route)
	enc.AddInt("stage", d.stage)
	enc.AddInt("branch", d.branch)
	enc.AddDuration("latency", d.latency)
	if d.fault != response.NoFault {
		enc.AddString("fault", string(d.fault))
	}
	return nil
}
