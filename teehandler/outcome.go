// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"context"
	"errors"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
)

// outcome is what became of a copy.
type outcome int

const (
	none outcome = iota
	sent1xx
	sent2xx
	sent3xx
	sent4xx
	sent5xx
	failedConnect
	failedTLS
	failedSend
	failedReceive
	failedResponse
	failedHandler
	failedPanic
	timedOut
	droppedQueue
	droppedRate
	droppedMemory
	droppedBodySize
	droppedBodyIncomplete
	droppedStatus
	droppedUnsupported
	droppedLoop
	outcomes
)

// outcomeNames are the values of the metric's label.
var outcomeNames = [outcomes]string{
	sent1xx:               "sent_1xx",
	sent2xx:               "sent_2xx",
	sent3xx:               "sent_3xx",
	sent4xx:               "sent_4xx",
	sent5xx:               "sent_5xx",
	failedConnect:         "failed_connect",
	failedTLS:             "failed_tls",
	failedSend:            "failed_send",
	failedReceive:         "failed_receive",
	failedResponse:        "failed_response",
	failedHandler:         "failed_handler",
	failedPanic:           "failed_panic",
	timedOut:              "timed_out",
	droppedQueue:          "dropped_queue",
	droppedRate:           "dropped_rate",
	droppedMemory:         "dropped_memory",
	droppedBodySize:       "dropped_body_size",
	droppedBodyIncomplete: "dropped_body_incomplete",
	droppedStatus:         "dropped_status",
	droppedUnsupported:    "dropped_unsupported",
	droppedLoop:           "dropped_loop",
}

// sentWith returns the outcome of a copy that got a response.
func sentWith(status int) outcome {
	switch {
	case status < 200:
		return sent1xx
	case status < 300:
		return sent2xx
	case status < 400:
		return sent3xx
	case status < 500:
		return sent4xx
	default:
		return sent5xx
	}
}

// failedWith returns the outcome of a copy that got none.
func failedWith(err error) outcome {
	if _, ok := errors.AsType[*panicError](err); ok {
		return failedPanic
	}
	failure, ok := errors.AsType[*http1.Error](err)
	switch {
	case !ok && isTimeout(err):
		return timedOut
	case !ok:
		return failedHandler
	}
	switch failure.Kind {
	case http1.Timeout:
		return timedOut
	case http1.Refused, http1.Unreachable, http1.DNS:
		return failedConnect
	case http1.TLS:
		return failedTLS
	case http1.Malformed:
		return failedResponse
	case http1.CutOff:
		return failedReceive
	case http1.Closed, http1.Reset, http1.Unsendable, http1.Interrupted, http1.Kinds:
	}
	if failure.Sending {
		return failedSend
	}
	return failedReceive
}

// isTimeout reports whether the handlers of a shadow have run out of time.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// durationBuckets reach from a cached response to the longest sensible timeout.
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
		Help:    "How long a shadow took to respond to a copy in full.",
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
