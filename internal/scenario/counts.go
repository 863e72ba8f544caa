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
	series  series
	release func() // tells that they are no longer counted in
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

// newCounts makes counts that have to be released.
func newCounts(simulator, route string) *counts {
	s := series{simulator, route}
	s.use()
	return &counts{series: s, release: sync.OnceFunc(s.release), tallies: make(map[int]*tally)}
}

// of gives the tally of a status. It is asked when a script is made, not for
// every request.
func (c *counts) of(status int) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tallies[status]
	if !ok {
		t = &tally{metric: c.series.requests(status)}
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
