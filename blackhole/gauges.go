// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	waitingBytes = gauge("waiting_bytes", "Memory of records that are being received or wait for the disk.")
	lagSeconds   = gauge("lag_seconds", "Time for which the oldest record has been waiting for the disk.")
)

func gauge(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("caddy", "blackhole", name), help, []string{"blackhole"}, nil)
}

// recorderGauges looks at the recorders when metrics are gathered.
type recorderGauges struct{}

// Describe sends what Collect gathers.
func (recorderGauges) Describe(descs chan<- *prometheus.Desc) {
	descs <- waitingBytes
	descs <- lagSeconds
}

// Collect sends the values by name: of two recorders with one name, as there
// are while a configuration is replaced, the sum and the longer time.
func (recorderGauges) Collect(metrics chan<- prometheus.Metric) {
	waiting := make(map[string]int64)
	lag := make(map[string]time.Duration)
	recorders.Range(func(_, value any) bool {
		s := value.(*sharedRecorder)
		waiting[s.name] += s.Waiting()
		lag[s.name] = max(lag[s.name], s.Lag())
		return true
	})
	for name := range waiting {
		metrics <- prometheus.MustNewConstMetric(waitingBytes, prometheus.GaugeValue, float64(waiting[name]), name)
		metrics <- prometheus.MustNewConstMetric(lagSeconds, prometheus.GaugeValue, lag[name].Seconds(), name)
	}
}
