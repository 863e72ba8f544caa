// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import "github.com/prometheus/client_golang/prometheus"

// noRoute is the label of requests that no route took.
const noRoute = "none"

// latencyBounds are the seconds between which latencies are counted.
var latencyBounds = []float64{0, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

var (
	requestsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy",
		Subsystem: "simulator",
		Name:      "requests_total",
		Help:      "Requests answered, by route and class of status.",
	}, []string{"simulator", "route", "code"})

	latencySeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy",
		Subsystem: "simulator",
		Name:      "latency_seconds",
		Help:      "Latency imposed on answers.",
		Buckets:   latencyBounds,
	}, []string{"simulator", "route"})
)

// Collectors gives the metrics that scenarios count in, whatever
// configuration is in force.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{requestsTotal, latencySeconds}
}
