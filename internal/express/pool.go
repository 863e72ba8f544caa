// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

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

// Pool holds the connections that one handler of one configuration has taken
// over. They end with that configuration.
type Pool struct {
	handler Handler
	logger  *zap.Logger
	count   prometheus.Gauge
	ctx     caddy.Context
	alone   atomic.Pointer[map[*caddyhttp.Server]bool] // servers that have only the handler; nil before the start

	draining atomic.Bool   // answers say that they are the last
	swept    atomic.Bool   // idle connections are closed
	exit     chan struct{} // closed when sleeping requests end too
	over     chan struct{} // closed when all connections are cut

	mu      sync.Mutex
	conns   map[*conn]struct{}
	servers map[*http.Server]struct{} // that tell when they shut down
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
