// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenario runs recipes: it keeps their contents and their clocks, decides
// what each request gets and counts it. It knows no HTTP server.
package scenario

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// Scenario is recipes that run. Any number of goroutines may use it.
type Scenario struct {
	name       string
	configured recipe.List
	defaults   Defaults
	in         *vectors
	logger     atomic.Pointer[zap.Logger] // of the configuration in force

	table atomic.Pointer[table] // replaced whole, so that deciding takes no lock
	unset *counts               // of requests that no route took

	outsiders atomic.Bool            // something else than recipes decides, too
	passedTo  atomic.Pointer[string] // where those go that nothing takes; nil or empty: nowhere

	mu      sync.Mutex // held to replace the table; guards what follows
	begun   bool
	former  Counts               // of routes and names that are no more
	outside map[string]*outsider // what is not decided by recipes, by name

	fetching chan struct{}   // holds an element for each origin that is being fetched in the background
	ctx      context.Context // of what is fetched there
	cancel   context.CancelFunc
}

// Defaults are what holds for recipes that do not say it themselves.
type Defaults struct {
	// Seed makes random choices the same in every run.
	Seed *uint64
	// Private keeps the scenario out of the metrics, for who has others.
	Private bool
}

// New makes a scenario of the recipes that a configuration has. Their clock
// starts; their origins are not asked before Begin.
func New(name string, configured recipe.List, defaults Defaults) (*Scenario, error) {
	s := &Scenario{
		name:       name,
		configured: configured,
		defaults:   defaults,
		former:     make(Counts),
		outside:    make(map[string]*outsider),
		fetching:   make(chan struct{}, atOnce),
	}
	s.in = exported
	if defaults.Private {
		s.in = newVectors()
	}
	s.unset = newCounts(s.seriesOf(noRoute))
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.logger.Store(zap.NewNop())
	s.table.Store(newTable(nil))
	s.unset.of(notSetStatus, 0)
	s.unset.of(unmatchedStatus, 0)
	if err := s.configure(time.Time{}); err != nil {
		_ = s.Destruct()
		return nil, err
	}
	return s, nil
}

// Name returns the name that the configuration has for the scenario.
func (s *Scenario) Name() string { return s.name }

// seriesOf returns the metrics of a route.
func (s *Scenario) seriesOf(route string) series { return series{s.name, route, s.in} }

// log returns the logger of the configuration in force.
func (s *Scenario) log() *zap.Logger { return s.logger.Load() }

// Begin puts the scenario in force with a configuration, whose logger it takes. Origins are fetched in the background. If all recipes were forgotten,
// those of the configuration return.
func (s *Scenario) Begin(logger *zap.Logger) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logger.Store(logger)
	if len(s.table.Load().routes) == 0 && len(s.configured) > 0 {
		return s.restart(time.Time{})
	}
	if !s.begun {
		s.begin()
	}
	return nil
}

// Restart goes back to the recipes of the configuration. Their clocks are at 0 at a
// time, which may be to come; if that is zero, now, or when the recipe says.
func (s *Scenario) Restart(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restart(at)
}

func (s *Scenario) restart(at time.Time) error {
	if err := s.configure(at); err != nil {
		return err
	}
	s.begin()
	return nil
}

// begin fetches what is missing.
func (s *Scenario) begin() {
	s.begun = true
	s.fetchInBackground(s.table.Load().routes)
}

// configure puts the recipes of the configuration in force, and no others. Their
// clocks start at a time, unless that is zero.
func (s *Scenario) configure(at time.Time) error {
	routes, err := newRoutes(s.ctx, s.configured, s.defaults)
	if err != nil {
		return err
	}
	return s.install(newTable(nil), routes, at)
}

// Add puts recipes in force at once, each in place of the one that its route
// had. Origins are fetched before: if one cannot be had, nothing changes.
func (s *Scenario) Add(ctx context.Context, list recipe.List) error {
	share := shareOf(list)
	if err := filling.Acquire(ctx, share); err != nil {
		return err
	}
	defer filling.Release(share)
	routes, err := newRoutes(ctx, list, s.defaults)
	if err != nil {
		return err
	}
	if err := fetchAll(ctx, list, routes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.table.Load()
	if err := before.checkCapacity(list, routes); err != nil {
		return err
	}
	return s.install(before, routes, time.Time{})
}

// Forget removes all recipes, those of the configuration too, and their metrics.
func (s *Scenario) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(newTable(nil))
}

// Destruct ends what goes on in the background, and the metrics that no other
// scenario counts in. Requests in hand are answered as before.
func (s *Scenario) Destruct() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	s.unset.release()
	for _, r := range s.table.Load().routes {
		r.counts.release()
	}
	for _, o := range s.outside {
		o.release()
	}
	return nil
}

// Decide returns the response to a request; false if no route takes its path.
// What the response points to is shared and must not be changed.
func (s *Scenario) Decide(req Request) (resp response.Response, found bool) {
	r := s.table.Load().find(req.Path)
	if r == nil {
		return response.Response{}, false
	}
	return r.decide(req, time.Now()), true
}

// Has reports whether a route takes a path.
func (s *Scenario) Has(path string) bool { return s.table.Load().find(path) != nil }

// AsksForClients reports whether an outcome looks at the address of the client.
func (s *Scenario) AsksForClients() bool { return s.table.Load().asksForClients }

var errEnded = errors.New("the configuration that this was sent to is no longer in force")

// install starts the clock of routes, at a time unless that is zero, and puts them
// in force beside those that are kept. What was counted for a pattern stays with it.
func (s *Scenario) install(kept *table, added []*route, at time.Time) error {
	if s.ctx.Err() != nil {
		return errEnded
	}
	after, err := kept.with(added)
	if err != nil {
		return err
	}
	before := s.table.Load()
	now := time.Now()
	for _, r := range after.routes {
		if r.counts != nil {
			continue // it is kept
		}
		start := at
		switch {
		case !at.IsZero():
		case r.recipe.Start != nil:
			start = *r.recipe.Start
		default:
			start = now
		}
		if old := before.get(r.recipe.Route); old != nil {
			r.start(old.counts, start)
		} else {
			r.start(newCounts(s.seriesOf(r.recipe.Route)), start)
		}
	}
	s.replace(after)
	return nil
}

// replace puts a table in the place of the one in force, and ends the routes
// that it lacks.
func (s *Scenario) replace(after *table) {
	before := s.table.Swap(after)
	for _, old := range before.routes {
		successor := after.get(old.recipe.Route)
		if successor == old {
			continue
		}
		old.stop()
		if successor == nil {
			s.former.add(old.counts.byStatus())
			old.counts.release()
		}
	}
}

// Rewind starts the clock of every recipe in force again, unless the recipe says
// when that was 0. What was fetched from origins is kept.
func (s *Scenario) Rewind() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.table.Load()
	routes, err := newRoutes(s.ctx, s.recipes(), s.defaults)
	if err != nil {
		return err
	}
	for _, r := range routes {
		if r.recipe.Origin != "" {
			r.content.Store(before.get(r.recipe.Route).content.Load())
		}
	}
	if err := s.install(before, routes, time.Time{}); err != nil {
		return err
	}
	if s.begun {
		s.fetchInBackground(routes)
	}
	return nil
}
