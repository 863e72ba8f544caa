// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package teehandler is a Caddy handler that copies live requests to shadow
// systems and records them with their responses; the client only ever sees the
// primary.
package teehandler

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/teehandler/internal/comparison"
)

func init() {
	caddy.RegisterModule(Handler{})
}

// Handler copies requests to shadow systems, and with `record` keeps them and
// the primary's responses in files.
//
// The primary is whatever handler comes next. It gets its requests and
// responds as if the tee was not there. Each shadow gets a copy of the
// request as the tee saw it: method, raw target, header, Host and body,
// without hop-by-hop fields and `Expect`, and marked by an `X-Rehearsal-Copy`
// field with the tee's name. What a shadow responds is read and thrown away.
// Upgrades and CONNECT are not copied.
type Handler struct {
	// The tee's name in metrics, logs and the mark on copies. A tee makes no
	// copy of a request that carries its own mark. Default: `tee`.
	Name string `json:"name,omitempty"`

	// URLs of shadows: `http://host[:port][/base/path]`, `https://...` or
	// `unix//path/to.sock`; a bare `host[:port]` means HTTP. Placeholders of
	// the environment are replaced when the configuration is loaded.
	To []string `json:"to,omitempty"`

	// Shadows made of Caddy's own handlers, each a list of routes.
	Handle []caddyhttp.RouteList `json:"handle,omitempty"`

	// The share of requests that is copied, the same ones for all shadows.
	// Default: 100.
	Percent *units.Percent `json:"percent,omitempty"`

	// Makes the choice stick to a key of the request, so that the same key is
	// always in or always out: `client_ip`, `uri`, `bearer` (the token of
	// Authorization), `header <field>` or `cookie <name>`. Requests without the key are chosen one by one.
	SampleBy *SampleBy `json:"sample_by,omitempty"`

	// The most requests to copy per second, like `50/s`. As many may come at
	// once. Default: no limit.
	RateLimit Rate `json:"rate_limit,omitempty"`

	// How long a copy may wait for its shadow and the exchange may take, both
	// together. Default: `1s`.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// The most exchanges at the same time with each shadow. Default: 256.
	Concurrency int `json:"concurrency,omitempty"`

	// The most copies waiting for each shadow. A copy beyond is dropped.
	// Default: 1000.
	Queue *int `json:"queue,omitempty"`

	// The largest request body to copy. A request with a larger one is not
	// copied. Default: `1MiB`.
	MaxBody *units.Size `json:"max_body,omitempty"`

	// `off` makes copies without the body.
	Body string `json:"body,omitempty"`

	// The Host of copies: `preserve` keeps that of the request, `target` takes
	// host and port of the shadow's URL, anything else is the value, in which
	// placeholders are replaced. Default: `preserve`.
	Host string `json:"host,omitempty"`

	// Changes to the header of copies. Placeholders are replaced.
	HeaderUp *headers.HeaderOps `json:"header_up,omitempty"`

	// Sets `X-Forwarded-For`, `-Proto` and `-Host` of copies as `reverse_proxy`
	// does, and `Forwarded`: what the client has put there stays only if it is one
	// of the server's trusted proxies.
	ForwardClientIP bool `json:"forward_client_ip,omitempty"`

	// Uses a new connection for every copy sent to a URL.
	CloseConnections bool `json:"close_connections,omitempty"`

	// How shadows with an `https` URL are trusted.
	TLS *reverseproxy.TLSConfig `json:"tls,omitempty"`

	// Copies a request only if the primary answers it with one of these:
	// statuses or classes like `2xx`. Default: whatever it answers.
	OnlyStatus []Status `json:"only_status,omitempty"`

	// Where and how the requests that are chosen are recorded, with what the
	// primary responds. Bodies go by its `max_body`, not by the tee's. Default:
	// they are not.
	Record *record.Options `json:"record,omitempty"`

	// What the shadows respond is compared with what the primary does. Tees of
	// one name count together. Default: it is thrown away.
	Compare *comparison.Options `json:"compare,omitempty"`

	// The path under which the site serves a page with the differences that
	// `compare` finds, like `/_tee`. Who can reach it can read them, and reset
	// the counts. Default: none.
	Admin string `json:"admin,omitempty"`

	name       string
	sampler    *sampler
	maxBody    int64
	memory     *memory
	timeout    time.Duration
	shadows    []*shadow
	recorder   *record.Recorder       // nil: nothing is recorded
	comparison *comparison.Comparison // nil: nothing is compared
	named      *atomic.Bool           // only requests for certain hosts come here
	duration   prometheus.Observer
	logger     *zap.Logger
	largeLog   *metrics.Throttle
	shutdown   *shutdown

	handleSegments []*caddyfile.Dispenser
}

const (
	defaultName        = "tee"
	defaultTimeout     = time.Second
	defaultConcurrency = 256
	defaultQueue       = 1000
	defaultMaxBody     = 1 << 20
)

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.tee",
		New: func() caddy.Module { return new(Handler) },
	}
}

// Provision sets up the tee and its shadows.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	if err := h.check(); err != nil {
		return err
	}
	repl := caddy.NewReplacer()
	var err error
	if h.name, err = repl.ReplaceOrErr(h.Name, true, true); err != nil {
		return fmt.Errorf("name: %v", err)
	}
	if h.Name == "" {
		h.name = defaultName
	}
	if err := units.CheckField(markField, h.name); err != nil {
		return fmt.Errorf("name: %v", err)
	}
	h.sampler = newSampler(h.Percent, h.SampleBy, h.RateLimit)
	h.timeout = time.Duration(h.Timeout)
	if h.timeout == 0 {
		h.timeout = defaultTimeout
	}
	for longest := longestTimeout.Load(); longest < int64(h.timeout); longest = longestTimeout.Load() {
		longestTimeout.CompareAndSwap(longest, int64(h.timeout))
	}
	h.maxBody = defaultMaxBody
	if h.MaxBody != nil {
		h.maxBody = int64(*h.MaxBody)
	}
	h.memory = &memory{limit: max(maxHeld, h.maxBody)}
	h.largeLog = metrics.NewThrottle(time.Minute)
	h.shutdown, h.named = new(shutdown), new(atomic.Bool)
	if err := h.HeaderUp.Provision(ctx); err != nil {
		return fmt.Errorf("header_up: %v", err)
	}
	if err := registerMetrics(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	h.duration = collectors.primaryDuration.WithLabelValues(h.name)
	if err := h.warnIfLast(ctx); err != nil {
		return err
	}
	if err := h.provisionShadows(ctx, repl); err != nil {
		return err
	}
	if err := h.openRecorder(ctx); err != nil {
		return err
	}
	return h.openComparison(ctx)
}

var errNothing = errors.New("no shadow: give a URL, a handle block or record")

// check refuses values that make no sense. What the types of the fields refuse
// themselves is not looked at again.
func (h *Handler) check() error {
	switch {
	case len(h.To) == 0 && len(h.Handle) == 0 && h.Record == nil:
		return errNothing
	case h.Compare != nil && len(h.To) == 0 && len(h.Handle) == 0:
		return errNothingToCompare
	case h.Timeout < 0:
		return fmt.Errorf("timeout %v is negative", time.Duration(h.Timeout))
	case h.Concurrency < 0:
		return fmt.Errorf("concurrency %d is negative", h.Concurrency)
	case h.Queue != nil && *h.Queue < 0:
		return fmt.Errorf("queue %d is negative", *h.Queue)
	case h.MaxBody != nil && *h.MaxBody < 0:
		return fmt.Errorf("max_body %d is negative", *h.MaxBody)
	case h.Body != "" && h.Body != "off":
		return fmt.Errorf("body '%s' is not valid: expected off", h.Body)
	case h.Host != "" && setsHost(h.HeaderUp):
		return errors.New("host and a header_up of Host exclude one another")
	}
	return nil
}

// Cleanup lets copies that were accepted finish, and requests that are served
// be recorded. When Caddy exits, awaitCopies waits for them.
func (h *Handler) Cleanup() error {
	for _, s := range h.shadows {
		s.retire()
	}
	if h.comparison != nil {
		h.comparison.Release()
	}
	if h.recorder == nil {
		return nil
	}
	return h.recorder.Release()
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
