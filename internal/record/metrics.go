// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// family are the metrics of recorders under one name: those of blackholes, or
// of all other handlers.
type family struct {
	records, files, dropped, bytes, errors, uploads *prometheus.CounterVec
	waiting, lag, pending                           *prometheus.Desc
	labels                                          []string // of every metric
}

var (
	blackholes = newFamily("blackhole", "blackhole")
	others     = newFamily("recording", "handler", "name")
)

func newFamily(subsystem string, labels ...string) *family {
	counter := func(name, help string, more ...string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Namespace: "caddy", Subsystem: subsystem, Name: name, Help: help}
		return prometheus.NewCounterVec(opts, append(slices.Clip(labels), more...))
	}
	gauge := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("caddy", subsystem, name), help, labels, nil)
	}
	return &family{
		records: counter("records_total", "Requests that are recorded on disk."),
		files:   counter("files_total", "Files that were finished."),
		dropped: counter("dropped_total", "Requests that were to be recorded and are not.", "reason"),
		bytes:   counter("bytes_total", "Bytes of records: raw, and as they are on disk.", "kind"),
		errors:  counter("errors_total", "Operations on the directory that failed.", "operation"),
		uploads: counter("uploads_total", "Files on their way to the object store: those that are there, tries that failed, files that keep let go before.", "result"),
		pending: gauge("upload_pending_bytes", "Size on disk of the finished files that wait for the object store."),
		waiting: gauge("waiting_bytes", "Memory of records that are being received or wait for the disk."),
		lag:     gauge("lag_seconds", "Time for which the oldest record has been waiting for the disk."),
		labels:  labels,
	}
}

// owner is who records: a handler by the name of its directive, and its own name.
type owner struct{ handler, name string }

func (o owner) family() *family {
	if o.handler == "blackhole" {
		return blackholes
	}
	return others
}

// labels returns the values of the labels of its family.
func (o owner) labels() []string {
	if o.family() == blackholes {
		return []string{o.name}
	}
	return []string{o.handler, o.name}
}

// Describe sends what Collect gathers.
func (f *family) Describe(descs chan<- *prometheus.Desc) {
	descs <- f.waiting
	descs <- f.lag
	descs <- f.pending
}

// Collect sends the values by owner when metrics are gathered: of two recorders
// of one, as there are while a configuration is replaced, the sum and the
// longer time.
func (f *family) Collect(out chan<- prometheus.Metric) {
	waiting := make(map[owner]int64)
	lag := make(map[owner]time.Duration)
	pending := make(map[owner]int64)
	recorders.Range(func(_, value any) bool {
		if s := value.(*Recorder); s.owner.family() == f {
			waiting[s.owner] += s.Waiting()
			lag[s.owner] = max(lag[s.owner], s.Lag())
			if s.uploads != nil { // two of one directory have the same files
				pending[s.owner] = max(pending[s.owner], s.uploads.pendingBytes())
			}
		}
		return true
	})
	for o := range waiting {
		out <- prometheus.MustNewConstMetric(f.waiting, prometheus.GaugeValue, float64(waiting[o]), o.labels()...)
		out <- prometheus.MustNewConstMetric(f.lag, prometheus.GaugeValue, lag[o].Seconds(), o.labels()...)
	}
	for o := range pending {
		out <- prometheus.MustNewConstMetric(f.pending, prometheus.GaugeValue, float64(pending[o]), o.labels()...)
	}
}

// observer turns what happens in a recorder into metrics and log entries.
type observer struct {
	records, files, raw, disk prometheus.Counter
	dropped, errors, uploads  *prometheus.CounterVec     // by reason, by operation, by result
	logger                    atomic.Pointer[zap.Logger] // of the configuration that runs
	sender                    *uploads                   // nil: files stay here
}

// observe registers the metrics with a configuration and returns an observer
// that counts for an owner.
func observe(registry *prometheus.Registry, of owner, logger *zap.Logger) (*observer, error) {
	f := of.family()
	if err := metrics.Register(registry, f.records, f.files, f.dropped, f.bytes, f.errors, f.uploads, f); err != nil {
		return nil, err
	}
	label := make(prometheus.Labels)
	for i, value := range of.labels() {
		label[f.labels[i]] = value
	}
	bytes := f.bytes.MustCurryWith(label)
	o := &observer{
		records: f.records.With(label),
		files:   f.files.With(label),
		raw:     bytes.WithLabelValues("raw"),
		disk:    bytes.WithLabelValues("disk"),
		dropped: f.dropped.MustCurryWith(label),
		errors:  f.errors.MustCurryWith(label),
		uploads: f.uploads.MustCurryWith(label),
	}
	o.logger.Store(logger)
	// An alert on the rise of a counter that is not there would miss the first.
	for _, reason := range recorder.Reasons {
		o.dropped.WithLabelValues(string(reason))
	}
	for _, operation := range recorder.Operations {
		o.errors.WithLabelValues(string(operation))
	}
	return o, nil
}

// Recorded counts records on disk.
func (o *observer) Recorded(records int, raw, disk int64) {
	o.records.Add(float64(records))
	o.raw.Add(float64(raw))
	o.disk.Add(float64(disk))
}

// Dropped counts records that are lost.
func (o *observer) Dropped(reason recorder.Reason, records int) {
	o.dropped.WithLabelValues(string(reason)).Add(float64(records))
}

// Failed counts an operation that failed.
func (o *observer) Failed(operation recorder.Operation) {
	o.errors.WithLabelValues(string(operation)).Inc()
}

// Finished counts a file and logs it for debugging.
func (o *observer) Finished(path string, size int64) {
	o.files.Inc()
	if c := o.logger.Load().Check(zapcore.DebugLevel, "finished recording"); c != nil {
		c.Write(zap.String("file", path), zap.Int64("size", size))
	}
	if o.sender != nil {
		o.sender.add(path, size)
	}
}

// Adopted logs a file that an earlier process left behind.
func (o *observer) Adopted(path string, lost int64) {
	o.logger.Load().Info("finished recording that was left behind", zap.String("file", path), zap.Int64("bytes_cut_off", lost))
	if o.sender != nil {
		o.sender.wakeUp()
	}
}

// sendsTo makes the observer pass whole files to what sends them to a store.
func (o *observer) sendsTo(u *uploads) {
	o.sender = u
	for _, result := range results {
		o.uploads.WithLabelValues(result)
	}
}

// uploaded counts a file that the store has, and logs it for debugging.
func (o *observer) uploaded(path string, size int64, result string) {
	o.uploads.WithLabelValues(result).Inc()
	if c := o.logger.Load().Check(zapcore.DebugLevel, "uploaded recording"); c != nil {
		c.Write(zap.String("file", path), zap.Int64("size", size), zap.String("result", result))
	}
}

// lost counts and logs a file that is neither here nor in the store.
func (o *observer) lost(path string, size int64) {
	o.uploads.WithLabelValues(resultLost).Inc()
	o.logger.Load().Error("recording is lost: keep let it go before the store had it", zap.String("file", path), zap.Int64("size", size))
}

// Deleted logs a file that is gone.
func (o *observer) Deleted(path string, size int64, why string) {
	if o.sender != nil && strings.HasPrefix(why, "keep ") {
		o.sender.deleted(path, size)
	}
	o.logger.Load().Info("deleted recording", zap.String("file", path), zap.Int64("size", size), zap.String("reason", why))
}

// Report logs trouble: an error if records are lost, else a warning.
func (o *observer) Report(t recorder.Trouble) {
	level := zapcore.WarnLevel
	if t.Lost > 0 {
		level = zapcore.ErrorLevel
	}
	o.logger.Load().Log(level, "recording failed",
		zap.String("operation", string(t.Operation)),
		zap.Error(t.Err),
		zap.Int("times", t.Times),
		zap.Int("lost_records", t.Lost))
}
