// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

var (
	requestsTotal = counter("requests_total", "Requests that were received.")
	recordsTotal  = counter("records_total", "Requests that are recorded on disk.")
	filesTotal    = counter("files_total", "Files that were finished.")
	droppedTotal  = counter("dropped_total", "Requests that were to be recorded and are not.", "reason")
	bytesTotal    = counter("bytes_total", "Bytes of records: raw, and as they are on disk.", "kind")
	errorsTotal   = counter("errors_total", "Operations on the directory that failed.", "operation")
)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy",
		Subsystem: "blackhole",
		Name:      name,
		Help:      help,
	}, append([]string{"blackhole"}, labels...))
}

// blackholeMetrics are the counters of one blackhole.
type blackholeMetrics struct {
	requests, records, files, raw, disk prometheus.Counter
	dropped, errors                     *prometheus.CounterVec // by reason, by operation
}

// newMetrics registers the metrics with a configuration.
func newMetrics(registry *prometheus.Registry, name string) (*blackholeMetrics, error) {
	err := metrics.Register(registry, requestsTotal, recordsTotal, filesTotal, droppedTotal, bytesTotal, errorsTotal, recorderGauges{})
	if err != nil {
		return nil, err
	}
	label := prometheus.Labels{"blackhole": name}
	bytes := bytesTotal.MustCurryWith(label)
	m := &blackholeMetrics{
		requests: requestsTotal.With(label),
		records:  recordsTotal.With(label),
		files:    filesTotal.With(label),
		raw:      bytes.WithLabelValues("raw"),
		disk:     bytes.WithLabelValues("disk"),
		dropped:  droppedTotal.MustCurryWith(label),
		errors:   errorsTotal.MustCurryWith(label),
	}
	m.beginWithZero()
	return m, nil
}

// beginWithZero has counters there before there is anything to count: an alert
// on their rise would miss the first.
func (m *blackholeMetrics) beginWithZero() {
	for _, reason := range recorder.Reasons {
		m.dropped.WithLabelValues(string(reason))
	}
	for _, operation := range recorder.Operations {
		m.errors.WithLabelValues(string(operation))
	}
}
