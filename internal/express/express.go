// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package express answers the rest of a keep-alive HTTP/1.1 connection
// directly: a handler that is asked by Caddy takes the connection over, and
// what follows on it is read and responded to here, without Caddy's
// routes, logs and other handlers. It does so only on servers whose routes hold
// nothing but this handler behind matchers of hosts, and for those hosts.
//
// Only requests that are plain beyond doubt are answered here: one line, well
// formed fields, at most one Content-Length. As soon as anything else arrives,
// the connection is given back to Caddy's HTTP server with every byte that was
// read, so that Caddy decides on it. The express path can therefore not be
// laxer than Caddy's, and whatever it does not know works as without it.
package express

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
)

// Handler answers requests on connections that were taken over.
type Handler interface {
	// TakesExpress reports whether ServeExpress answers the request of x, of
	// which it may look at the head. Any other request is served by Caddy as
	// without express: TakeOver leaves its connection where it is, and one that
	// was taken over is given back with it, until a request of it is taken.
	TakesExpress(x *Exchange) bool

	// ServeExpress answers the request of x, once, through one of Respond,
	// RespondFrom, Start, Conn and Reset.
	//
	// It is called by one goroutine per connection. Nothing of x may be used
	// after it returned, except the strings.
	ServeExpress(x *Exchange)
}

// Pool holds the connections that one handler of one configuration has taken
// over. They end with that configuration.
type Pool struct {
	handler Handler
	logger  *zap.Logger
	count   prometheus.Gauge
	ctx     caddy.Context
	alone   atomic.Pointer[map[*caddyhttp.Server]bool] // servers that have only the handler; nil before the start

	draining atomic.Bool   // responses announce the end of their connection
	swept    atomic.Bool   // idle connections are closed
	exit     chan struct{} // closed when sleeping requests end too
	over     chan struct{} // closed when all connections are cut

	mu      sync.Mutex
	conns   map[*conn]struct{}
	servers map[*http.Server]struct{} // that report when they shut down
	empty   chan struct{}             // closed when draining and without connections
}

// NewPool makes the pool of a handler. Its connections count under name in the
// caddy_express_connections metric.
func NewPool(ctx caddy.Context, name string, handler Handler) (*Pool, error) {
	if err := metrics.Register(ctx.GetMetricsRegistry(), connections); err != nil {
		return nil, err
	}
	p := &Pool{
		handler: handler,
		logger:  ctx.Logger(),
		count:   connections.WithLabelValues(name),
		ctx:     ctx,
		exit:    make(chan struct{}),
		over:    make(chan struct{}),
		conns:   make(map[*conn]struct{}),
		servers: make(map[*http.Server]struct{}),
		empty:   make(chan struct{}),
	}
	return p, lifecycle.OnStart(ctx, p.lookAround)
}

// add adds a connection to those that the pool ends and counts. One that comes
// while the pool drains is left out: it is served all the same, and its first
// response is its last.
func (p *Pool) add(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining.Load() {
		return
	}
	if _, ok := p.servers[c.server]; !ok {
		p.servers[c.server] = struct{}{}
		c.server.RegisterOnShutdown(p.end)
	}
	p.conns[c] = struct{}{}
	p.count.Inc()
}

func (p *Pool) remove(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.conns[c]; !ok {
		return
	}
	delete(p.conns, c)
	p.count.Dec()
	if p.draining.Load() && len(p.conns) == 0 {
		close(p.empty)
	}
}

// connections goes on through reloads: the old configuration's connections
// count until they have ended.
var connections = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Namespace: "caddy",
	Subsystem: "express",
	Name:      "connections",
	Help:      "Connections taken over that are open.",
}, []string{"handler"})
