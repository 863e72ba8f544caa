// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
	"github.com/caddy-rehearsal/rehearsal/internal/metrics"
)

// Results of comparisons in metrics, beside the reasons for which there was none.
const (
	resultEqual     = "equal"
	resultDifferent = "different"
	resultNoise     = "noise"   // it differs only where the old system differs from itself
	resultUnequal   = "unequal" // require_equal
)

// collectors count on across reloads.
var collectors = struct{ compared, differences *prometheus.CounterVec }{
	compared: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "compared_total",
		Help: "Pairs of responses by what their comparison found, or why there was none.",
	}, []string{"tee", "shadow", "result"}),
	differences: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "tee", Name: "differences_total",
		Help: "Fields in which a shadow's response differed, noise included, by kind.",
	}, []string{"tee", "shadow", "kind"}),
}

func registerMetrics(registry *prometheus.Registry) error {
	return metrics.Register(registry, collectors.compared, collectors.differences)
}

// shadowMetrics are the metrics of one shadow.
type shadowMetrics struct {
	compared, differences *prometheus.CounterVec // the labels of tee and shadow are set
	equal, different      prometheus.Counter
}

func newShadowMetrics(tee, shadow string) *shadowMetrics {
	labels := prometheus.Labels{"tee": tee, "shadow": shadow}
	m := &shadowMetrics{
		compared:    collectors.compared.MustCurryWith(labels),
		differences: collectors.differences.MustCurryWith(labels),
	}
	m.equal, m.different = m.compared.WithLabelValues(resultEqual), m.compared.WithLabelValues(resultDifferent)
	return m
}

func (m *shadowMetrics) count(result string) {
	switch result {
	case resultEqual:
		m.equal.Inc()
	case resultDifferent:
		m.different.Inc()
	default:
		m.compared.WithLabelValues(result).Inc()
	}
}

func (m *shadowMetrics) differs(kind compare.Kind) {
	m.differences.WithLabelValues(string(kind)).Inc()
}

// fieldLog logs one entry a minute and field.
type fieldLog struct {
	mu    sync.Mutex
	known map[string]*metrics.Throttle
}

// maxLogged is how many fields are logged of a shadow. More are counted only.
const maxLogged = 200

func (l *fieldLog) say(s *shared, shadow string, p *tally.Pair, d *compare.Difference) {
	logger := s.logger.Load()
	if logger == nil {
		return
	}
	name := endpoint.AppendName(make([]byte, 0, 64), p.Method, p.Target, p.Body)
	throttle := l.throttle(string(name) + "\n" + d.Field)
	if throttle == nil {
		return
	}
	more, ok := throttle.Allow()
	if !ok {
		return
	}
	logger.Info("the shadow responds otherwise than the primary",
		zap.String("tee", s.tee), zap.String("shadow", shadow), zap.ByteString("endpoint", name),
		zap.String("field", d.Field), zap.String("kind", string(d.Kind)),
		zap.String("old", compare.Short(d.Old)), zap.String("new", compare.Short(d.New)), zap.String("id", p.ID),
		zap.Int64("more_since_last_entry", more))
}

func (l *fieldLog) throttle(key string) *metrics.Throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.known[key]
	if t == nil && len(l.known) < maxLogged {
		if l.known == nil {
			l.known = make(map[string]*metrics.Throttle)
		}
		t = metrics.NewThrottle(time.Minute)
		l.known[key] = t
	}
	return t
}
