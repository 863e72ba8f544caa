// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are the responses of one route, by their status.
type counts struct {
	series  series
	release func() // ends counting in them
	mu      sync.Mutex
	tallies map[int]*tally
}

// NoStatus stands for responses whose fault leaves them without a status.
const NoStatus = 0

// tally counts responses of one status.
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

// of returns the tally of a status. It is asked when a script is made, not for
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

// byStatus returns how many responses there were of every status.
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

// noRoute is the label of requests that no route took.
const noRoute = "none"

// latencyBounds are the seconds between which latencies are counted.
var latencyBounds = []float64{0, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

var (
	requestsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy",
		Subsystem: "simulator",
		Name:      "requests_total",
		Help:      "Requests answered, by route and class of status.",
	}, []string{"simulator", "route", "code"})

	latencySeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy",
		Subsystem: "simulator",
		Name:      "latency_seconds",
		Help:      "Latency imposed on answers.",
		Buckets:   latencyBounds,
	}, []string{"simulator", "route"})
)

// Collectors returns the metrics that scenarios count in, whatever
// configuration is in force.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{requestsTotal, latencySeconds}
}
