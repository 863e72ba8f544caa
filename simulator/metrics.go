// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

// collectors are the metrics of all simulators.
func collectors() []prometheus.Collector {
	return append(scenario.Collectors(), inForce)
}

// inForce collects the number of the stage in force of every route, looked up at
// each scrape.
var inForce prometheus.Collector = stageCollector{prometheus.NewDesc(
	"caddy_simulator_stage",
	"Number of the stage in force, counted from 1; 0 before the first.",
	[]string{"simulator", "route"}, nil,
)}

type stageCollector struct{ desc *prometheus.Desc }

// Describe sends the description of the one metric.
func (c stageCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect sends the stage in force of every route of every scenario that runs.
func (c stageCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, r := range all() {
		for _, status := range r.Status() {
			metrics <- prometheus.MustNewConstMetric(
				c.desc, prometheus.GaugeValue, float64(status.Stage), r.Name(), status.Route)
		}
	}
}
