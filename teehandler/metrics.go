// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
)

// durationBuckets reach from a cached answer to the longest sensible timeout.
var durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// collectors count on across reloads.
var collectors = struct {
	copies          *prometheus.CounterVec
	shadowDuration  *prometheus.HistogramVec
	primaryDuration *prometheus.HistogramVec
	queued          *prometheus.GaugeVec
	inFlight        *prometheus.GaugeVec
}{
	copies: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "copies_total",
		Help: "Copies of requests by what became of them.",
	}, []string{"tee", "shadow", "outcome"}),
	shadowDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "shadow_duration_seconds",
		Help:    "How long a shadow took to answer a copy in full.",
		Buckets: durationBuckets,
	}, []string{"tee", "shadow"}),
	primaryDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "primary_duration_seconds",
		Help:    "How long the primary took for requests that were copied.",
		Buckets: durationBuckets,
	}, []string{"tee"}),
	queued: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "queued",
		Help: "Copies waiting for a shadow.",
	}, []string{"tee", "shadow"}),
	inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "in_flight",
		Help: "Exchanges with a shadow going on.",
	}, []string{"tee", "shadow"}),
}

func registerMetrics(registry *prometheus.Registry) error {
	return metrics.Register(registry,
		collectors.copies, collectors.shadowDuration, collectors.primaryDuration, collectors.queued, collectors.inFlight)
}

// shadowMetrics are the metrics of one shadow.
type shadowMetrics struct {
	copies           [outcomes]prometheus.Counter
	duration         prometheus.Observer
	queued, inFlight prometheus.Gauge
}

func newShadowMetrics(tee, shadow string) *shadowMetrics {
	m := &shadowMetrics{
		duration: collectors.shadowDuration.WithLabelValues(tee, shadow),
		queued:   collectors.queued.WithLabelValues(tee, shadow),
		inFlight: collectors.inFlight.WithLabelValues(tee, shadow),
	}
	for o := none + 1; o < outcomes; o++ {
		m.copies[o] = collectors.copies.WithLabelValues(tee, shadow, outcomeNames[o])
	}
	return m
}

func (m *shadowMetrics) count(o outcome) { m.copies[o].Inc() }
