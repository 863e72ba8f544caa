// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// series names the metrics of a route. They are there as long as a scenario
// counts in them: that of the next configuration begins to before the former
// ends, so they count on across reloads.
type series struct{ simulator, route string }

// users counts the scenarios that count in a route's metrics.
var users = struct {
	sync.Mutex
	of map[series]int
}{of: make(map[series]int)}

func (s series) use() {
	users.Lock()
	defer users.Unlock()
	users.of[s]++
}

// release removes the metrics with their last user.
func (s series) release() {
	users.Lock()
	defer users.Unlock()
	if users.of[s]--; users.of[s] > 0 {
		return
	}
	delete(users.of, s)
	latencySeconds.DeleteLabelValues(s.simulator, s.route)
	for hundreds := range 10 { // 0 is NoStatus
		requestsTotal.DeleteLabelValues(s.simulator, s.route, class(100*hundreds))
	}
}

func (s series) requests(status int) prometheus.Counter {
	return requestsTotal.WithLabelValues(s.simulator, s.route, class(status))
}

func (s series) latency() prometheus.Observer {
	return latencySeconds.WithLabelValues(s.simulator, s.route)
}
