// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackhole is a Caddy handler that acknowledges every request and, if
// asked to, records it so that it can be sent again byte for byte.
package blackhole

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/express"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

func init() {
	caddy.RegisterModule(Handler{})
}

// Handler reads every request to its end, whatever its method, host and path,
// and sends them all the same response. With `record` it keeps the requests in
// files that `caddy replay` sends again.
//
// Recording never stands between a request and its response: what cannot be
// recorded is counted and reported once a minute. Only when memory is full do
// requests wait, unless `on_overflow` is `drop`: for the disk, and those with
// large bodies also for others whose bodies are still coming.
type Handler struct {
	// The name by which metrics and logs tell blackholes apart. Default:
	// `blackhole`.
	Name string `json:"name,omitempty"`

	// The status of every response, from 200 to 599. Default: 200.
	Status int `json:"status,omitempty"`

	// The header fields of every response. A field with several values is sent
	// with a line for each.
	Headers http.Header `json:"headers,omitempty"`

	// The body of every response, `text/plain` unless the header says otherwise.
	// Default: empty.
	Body string `json:"body,omitempty"`

	// How many percent of the requests are recorded, chosen at random.
	// Default: 100.
	Percent *units.Percent `json:"percent,omitempty"`

	// Where and how requests are recorded. Default: they are not.
	Record *record.Options `json:"record,omitempty"`

	// Answers what follows the first request of a keep-alive HTTP/1.1 connection
	// directly, without access logs, HTTP metrics and traces: for load tests. It
	// does so only if the server has nothing but this handler behind matchers of
	// hosts; else a warning names what stands in the way. Default: false.
	Express bool `json:"express,omitempty"`

	pool     *express.Pool // nil: no connection is taken over
	requests prometheus.Counter
	response *response.Message
	recorder *record.Recorder // nil: nothing is recorded
}

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.blackhole",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision prepares the response and the recorder.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	name := cmp.Or(h.Name, "blackhole")
	if h.response, err = newMessage(h.Status, h.Headers, h.Body); err != nil {
		return err
	}
	if err := metrics.Register(ctx.GetMetricsRegistry(), requestsTotal); err != nil {
		return err
	}
	h.requests = requestsTotal.WithLabelValues(name)
	if h.Express {
		if h.pool, err = express.NewPool(ctx, name, h); err != nil {
			return err
		}
	}
	if h.Record == nil {
		return nil
	}
	if h.recorder, err = record.Open(ctx, "blackhole", name, h.Record); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Cleanup releases the recorder, which ends with the last handler and the
// last request that use it.
func (h *Handler) Cleanup() error {
	h.pool.Close()
	if h.recorder == nil {
		return nil
	}
	return h.recorder.Release()
}

// requestsTotal counts by blackhole. What is recorded internal/record counts.
var requestsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Namespace: "caddy",
	Subsystem: "blackhole",
	Name:      "requests_total",
	Help:      "Requests that were received.",
}, []string{"blackhole"})

// newMessage makes the response to every request. A status of 0 is 200.
func newMessage(status int, header http.Header, body string) (*response.Message, error) {
	if status == 0 {
		status = http.StatusOK
	}
	if _, err := parseStatus(strconv.Itoa(status)); err != nil {
		return nil, fmt.Errorf("status: %v", err)
	}
	all := make(http.Header)
	for name, values := range header {
		for _, value := range values {
			if err := cmp.Or(refuseFraming(name), units.CheckField(name, value)); err != nil {
				return nil, fmt.Errorf("headers: %v", err)
			}
			all.Add(name, value)
		}
	}
	if body != "" && response.HasBody(status) && all["Content-Type"] == nil {
		all.Set("Content-Type", "text/plain; charset=utf-8")
	}
	var fields []response.Field
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields = append(fields, response.NewField(name, all[name]...))
	}
	return response.NewMessage(status, fields, response.Bytes([]byte(body))), nil
}

// refuseFraming refuses a field that the server sets.
func refuseFraming(name string) error {
	framing := []http1.Field{http1.ContentLength, http1.TransferEncoding, http1.Connection, http1.Trailer}
	if slices.Contains(framing, http1.FieldOf(name)) {
		return fmt.Errorf("%s is set by the server", name)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
	_ express.Handler             = (*Handler)(nil)
)
