// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import "github.com/prometheus/client_golang/prometheus"

// requestsTotal counts by blackhole. What is recorded internal/record counts.
var requestsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Namespace: "caddy",
	Subsystem: "blackhole",
	Name:      "requests_total",
	Help:      "Requests that were received.",
}, []string{"blackhole"})
