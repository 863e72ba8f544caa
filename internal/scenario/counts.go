// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are the responses of one route, by their status and branch.
type counts struct {
	series  series
	release func() // ends counting in them
	mu      sync.Mutex
	tallies map[counted]*tally
}

// counted is what responses are counted by: their status and the number of the
// outcome, counted from 1; 0 is none.
type counted struct{ status, branch int }

// NoStatus stands for responses whose fault leaves them without a status.
const NoStatus = 0

// tally counts responses of one status and branch.
type tally struct {
	n      atomic.Uint64
	metric prometheus.Counter
}

func (t *tally) hit() {
	t.n.Add(1)
	t.metric.Inc()
}

// newCounts makes counts that have to be released.
func newCounts(s series) *counts {
	s.use()
	return &counts{series: s, release: sync.OnceFunc(s.release), tallies: make(map[counted]*tally)}
}

// of returns the tally of a status and branch. It is asked when a script is made,
// not for every request.
func (c *counts) of(status, branch int) *tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tallies[counted{status, branch}]
	if !ok {
		t = &tally{metric: c.series.requests(status, branch)}
		c.tallies[counted{status, branch}] = t
	}
	return t
}

// forgot counts a key that a condition has forgotten.
func (c *counts) forgot() { c.series.forgotten().Inc() }

// class returns the label of a status.
func class(status int) string {
	if status == NoStatus {
		return "fault"
	}
	return strconv.Itoa(status/100) + "xx"
}

// byStatus returns how many responses there were of every status.
func (c *counts) byStatus() Counts { return c.by(func(k counted) int { return k.status }) }

// byBranch returns how many responses there were of every branch.
func (c *counts) byBranch() Counts { return c.by(func(k counted) int { return k.branch }) }

func (c *counts) by(key func(counted) int) Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := make(Counts, len(c.tallies))
	for k, t := range c.tallies {
		if hits := t.n.Load(); hits > 0 {
			n[key(k)] += hits
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
type series struct {
	simulator, route string
	in               *vectors
}

// vectors are the metrics that scenarios count in.
type vectors struct {
	requests, forgotten *prometheus.CounterVec
	latency             *prometheus.HistogramVec
}

// users counts the scenarios that count in a route's metrics, and how many
// branches these have.
var users = struct {
	sync.Mutex
	of map[series]usage
}{of: make(map[series]usage)}

type usage struct{ scenarios, branches int }

func (s series) use() {
	users.Lock()
	defer users.Unlock()
	u := users.of[s]
	u.scenarios++
	users.of[s] = u
	s.forgotten() // is there with 0, or the first key would be missing in a rate
}

// release removes the metrics with their last user.
func (s series) release() {
	users.Lock()
	defer users.Unlock()
	u := users.of[s]
	if u.scenarios--; u.scenarios > 0 {
		users.of[s] = u
		return
	}
	delete(users.of, s)
	s.in.latency.DeleteLabelValues(s.simulator, s.route)
	s.in.forgotten.DeleteLabelValues(s.simulator, s.route)
	for branch := range u.branches + 1 {
		for hundreds := range 10 { // 0 is NoStatus
			s.in.requests.DeleteLabelValues(s.simulator, s.route, strconv.Itoa(branch), class(100*hundreds))
		}
	}
}

func (s series) requests(status, branch int) prometheus.Counter {
	users.Lock()
	defer users.Unlock()
	u := users.of[s]
	u.branches = max(u.branches, branch)
	users.of[s] = u
	return s.in.requests.WithLabelValues(s.simulator, s.route, strconv.Itoa(branch), class(status))
}

func (s series) forgotten() prometheus.Counter {
	return s.in.forgotten.WithLabelValues(s.simulator, s.route)
}

func (s series) latency() prometheus.Observer {
	return s.in.latency.WithLabelValues(s.simulator, s.route)
}

// noRoute is the label of requests that no route took.
const noRoute = "none"

// latencyBounds are the seconds between which latencies are counted.
var latencyBounds = []float64{0, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// exported are the metrics that everybody can see.
var exported = newVectors()

func newVectors() *vectors {
	return &vectors{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "caddy",
			Subsystem: "simulator",
			Name:      "requests_total",
			Help:      "Requests answered, by route, outcome of the stage and class of status.",
		}, []string{"simulator", "route", "branch", "code"}),
		forgotten: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "caddy",
			Subsystem: "simulator",
			Name:      "keys_forgotten_total",
			Help:      "Keys of `first ... by` that were forgotten for newer ones.",
		}, []string{"simulator", "route"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "caddy",
			Subsystem: "simulator",
			Name:      "latency_seconds",
			Help:      "Latency imposed on responses.",
			Buckets:   latencyBounds,
		}, []string{"simulator", "route"}),
	}
}

// Collectors returns the metrics that scenarios count in, whatever
// configuration is in force.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{exported.requests, exported.latency, exported.forgotten}
}
