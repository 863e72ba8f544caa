// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// observer turns what a recorder tells into metrics and log entries.
type observer struct {
	metrics *blackholeMetrics
	logger  *atomic.Pointer[zap.Logger]
}

// Recorded counts records on disk.
func (o *observer) Recorded(records int, raw, disk int64) {
	o.metrics.records.Add(float64(records))
	o.metrics.raw.Add(float64(raw))
	o.metrics.disk.Add(float64(disk))
}

// Dropped counts records that are lost.
func (o *observer) Dropped(reason recorder.Reason, records int) {
	o.metrics.dropped.WithLabelValues(string(reason)).Add(float64(records))
}

// Failed counts an operation that failed.
func (o *observer) Failed(operation recorder.Operation) {
	o.metrics.errors.WithLabelValues(string(operation)).Inc()
}

// Finished counts a file and logs it for debugging.
func (o *observer) Finished(path string, size int64) {
	o.metrics.files.Inc()
	if c := o.logger.Load().Check(zapcore.DebugLevel, "finished recording"); c != nil {
		c.Write(zap.String("file", path), zap.Int64("size", size))
	}
}

// Adopted logs a file that an earlier process left behind.
func (o *observer) Adopted(path string, lost int64) {
	o.logger.Load().Info("finished recording that was left behind", zap.String("file", path), zap.Int64("bytes_cut_off", lost))
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
