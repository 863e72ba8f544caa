// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package livepage is a page on which people watch a scenario run: where every
// route is on its timeline, what it answers and how often; and the services of the
// queue simulator beside it.
package livepage

import (
	"embed"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/page"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
)

//go:embed assets
var assets embed.FS

var files = page.NewFiles(assets)

// Page shows one scenario.
type Page struct {
	scenario  *scenario.Scenario
	texts     texts
	latencies latencies
}

// New makes a page that shows a scenario.
func New(s *scenario.Scenario) *Page { return &Page{scenario: s} }

// feedPath is the document that keeps the page up to date.
const feedPath = "/live.json"

// Paths returns the paths that Serve takes, below the page's own.
func Paths() []string { return append(files.Paths(), feedPath) }

// Serve answers one of Paths.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	if name == feedPath {
		return p.serveFeed(w, r)
	}
	return files.Serve(w, name)
}

// mostRoutes bounds how many routes, and services of queues, are shown; the page has a field to look for
// others.
const mostRoutes = 100

// feed is the scenario at a moment. Numbers only grow, except when counts are
// cleared: the page makes rates of them.
type feed struct {
	Name string `json:"name"`
	// Time is the server's clock in milliseconds.
	Time int64 `json:"time"`
	// Requests are all answers by status.
	Requests scenario.Counts `json:"requests"`
	// Bounds are the seconds up to which each of the latencies counts; one more
	// counts what is above.
	Bounds    []float64 `json:"bounds"`
	Latencies []uint64  `json:"latencies"`
	// Found is the number of routes that were looked for, of all that there are.
	Found int `json:"found"`
	All   int `json:"all"`
	// Routes are the first of those found, and at the end, unless some are looked
	// for, the requests that no route took, if there are any.
	Routes []state `json:"routes"`
	// Queues are the services of the queue simulator, if there are any.
	Queues *queues `json:"queues,omitempty"`
}

// state is a route at a moment.
type state struct {
	*text
	// Elapsed is the place on the timeline, in seconds.
	Elapsed   float64         `json:"elapsed"`
	Stage     int             `json:"stage"`
	Requests  scenario.Counts `json:"requests"`
	Latencies []uint64        `json:"latencies"`
}

// serveFeed answers with the routes whose pattern contains what is looked for.
// The access log does without it: a page asks every second.
func (p *Page) serveFeed(w http.ResponseWriter, r *http.Request) error {
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	body, err := json.Marshal(p.look(r.URL.Query().Get("find")))
	if err != nil {
		return err
	}
	page.Send(w, http.StatusOK, "application/json; charset=utf-8", body)
	return nil
}

func (p *Page) look(find string) feed {
	all, _ := p.scenario.Counted()
	views := p.scenario.Views()
	f := feed{
		Name:      p.scenario.Name(),
		Time:      time.Now().UnixMilli(),
		Requests:  all,
		Bounds:    scenario.LatencyBounds(),
		Latencies: make([]uint64, len(scenario.LatencyBounds())+1),
		All:       len(views),
		Routes:    []state{},
		Queues:    lookAtQueues(find),
	}
	var shown []scenario.View
	readings := p.latencies.of(views)
	for _, view := range views {
		add(f.Latencies, readings[view.Name].latencies)
		if !strings.Contains(view.Name, find) {
			continue
		}
		f.Found++
		if len(shown) < mostRoutes {
			shown = append(shown, view)
		}
	}
	if unrouted := p.scenario.Unrouted(); find == "" && unrouted.Counts.Total() > 0 {
		shown, views = append(shown, unrouted), append(views, unrouted)
		readings[unrouted.Name] = reading{latencies: unrouted.Latencies()}
	}
	for i, text := range p.texts.of(shown, views) {
		f.Routes = append(f.Routes, state{
			text: text, Elapsed: shown[i].Elapsed.Seconds(), Stage: shown[i].Stage,
			Requests: shown[i].Counts, Latencies: readings[shown[i].Name].latencies,
		})
	}
	return f
}

func add(sum, more []uint64) {
	for i, n := range more {
		sum[i] += n
	}
}

// latencies keeps those of routes as long as nothing is counted for them:
// reading them takes longer than all the rest, and of many routes few are busy.
type latencies struct {
	mu    sync.Mutex
	known map[string]reading
}

// reading is what was counted for a route.
type reading struct {
	total     uint64
	settled   bool // it was read once more after the last answer was counted
	latencies []uint64
}

// of returns the readings of all routes by their names.
func (l *latencies) of(views []scenario.View) map[string]reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[string]reading, len(views))
	for i := range views {
		view := &views[i]
		before, ok := l.known[view.Name]
		total := view.Counts.Total()
		same := ok && before.total == total
		if !same || !before.settled {
			before = reading{total, same, view.Latencies()}
		}
		known[view.Name] = before
	}
	l.known = known
	return known
}
