// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// What becomes of requests, in metrics and in Caddy's admin API.
const (
	answered     = "answered"
	dropped      = "dropped"
	unmatched    = "unmatched"
	unanswerable = "unanswerable"
	deadLettered = "dead_lettered"
	failed       = "failed"
	returned     = "returned"
)

var results = []string{answered, dropped, unmatched, unanswerable, deadLettered, failed, returned}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "queue_simulator", Name: name, Help: help,
	}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "caddy", Subsystem: "queue_simulator", Name: name, Help: help,
	}, labels)
}

var (
	requestsTotal = counter("requests_total", "Requests, by what became of them.", "broker", "service", "result")
	redelivered   = counter("redelivered_total", "Requests that the broker had delivered before.", "broker", "service")
	answerRetries = counter("answer_retries_total", "Answers that were sent again, as their connection was lost.", "broker")
	reconnects    = counter("reconnects_total", "Connections that took the place of lost ones.", "broker")
	asleep        = gauge("asleep", "Requests that wait for their latency to be over.", "broker", "service")
	connected     = gauge("connected", "Whether a connection to the broker is up: 1 or 0.", "broker", "connection")

	latencySeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy",
		Subsystem: "queue_simulator",
		Name:      "latency_seconds",
		Help:      "Latency imposed on answers.",
		Buckets:   []float64{0, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"broker", "service"})
)

func collectors() []prometheus.Collector {
	return []prometheus.Collector{requestsTotal, redelivered, answerRetries, reconnects, asleep, connected, latencySeconds}
}

// connectionCounts counts connections by their names in metrics. At a reload two have
// the same one for a while.
var connectionCounts = connectionCounter{kept: make(map[connection]int), up: make(map[connection]int)}

type connectionCounter struct {
	mu       sync.Mutex
	kept, up map[connection]int
}

// add counts connections that are kept up and that are up, and shows whether there is
// one that is up, as long as any is kept.
func (c *connectionCounter) add(name connection, kept, up int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[name] += kept
	c.up[name] += up
	if c.kept[name] == 0 {
		delete(c.kept, name)
		delete(c.up, name)
		connected.DeleteLabelValues(name.broker, name.role)
		return
	}
	connected.WithLabelValues(name.broker, name.role).Set(float64(min(1, c.up[name])))
}
