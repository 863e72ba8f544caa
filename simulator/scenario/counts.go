// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are the answers of one route, by their status.
type counts struct {
	labels  prometheus.Labels // of the simulator and the route
	mu      sync.Mutex
	tallies map[int]*tally
}

// NoStatus stands for answers whose fault leaves them without a status.
const NoStatus = 0

// tally counts answers of one status.
type tally struct {
	n      atomic.Uint64
	metric prometheus.Counter
}

func (t *tally) hit() {
	t.n.Add(1)
	t.metric.Inc()
}

func newCounts(simulator, route string) *counts {
	return &counts{
		labels:  prometheus.Labels{"simulator": simulator, "route": route},
		tallies: make(map[int]*tally),
	}
}

// of gives the tally of a status. It is asked when a script is made, not for
// every request.
func (c *counts) of(status int) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tallies[status]
	if !ok {
		t = &tally{metric: requestsTotal.MustCurryWith(c.labels).WithLabelValues(class(status))}
		c.tallies[status] = t
	}
	return t
}

// class is the label of a status.
func class(status int) string {
	if status == NoStatus {
		return "fault"
	}
	return strconv.Itoa(status/100) + "xx"
}

// byStatus gives how many answers there were of every status.
func (c *counts) byStatus() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := make(Counts, len(c.tallies))
	for status, t := range c.tallies {
		if hits := t.n.Load(); hits > 0 {
			n[status] = hits
		}
	}
	return n
}

// clear sets all to 0. Metrics go on counting.
func (c *counts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tallies {
		t.n.Store(0)
	}
}
