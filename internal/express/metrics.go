// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import "github.com/prometheus/client_golang/prometheus"

// connections goes on through reloads: the old configuration's connections
// count until they have ended.
var connections = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Namespace: "caddy",
	Subsystem: "express",
	Name:      "connections",
	Help:      "Connections taken over that are open.",
}, []string{"handler"})
