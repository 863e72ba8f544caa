// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenario runs recipes: it holds what each route is to answer, keeps
// the clock, counts, and decides. It knows no HTTP server.
package scenario

import (
	"context"
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
	logger     atomic.Pointer[zap.Logger] // of the configuration in force

	table atomic.Pointer[table] // replaced whole, so that deciding takes no lock
	unset *counts               // of requests that no route took

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
}

// New makes a scenario of the recipes that a configuration has. Their clock
// starts; their origins are not asked before Begin.
func New(name string, configured recipe.List, defaults Defaults) (*Scenario, error) {
	s := &Scenario{
		name:       name,
		configured: configured,
		defaults:   defaults,
		unset:      newCounts(name, noRoute),
		former:     make(Counts),
		outside:    make(map[string]*outsider),
		fetching:   make(chan struct{}, atOnce),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.logger.Store(zap.NewNop())
	s.table.Store(newTable(nil))
	s.unset.of(notSetStatus)
	s.unset.of(unmatchedStatus)
	if err := s.configure(); err != nil {
		_ = s.Destruct()
		return nil, err
	}
	return s, nil
}

// Name gives the name that the configuration has for the scenario.
func (s *Scenario) Name() string { return s.name }

// log gives the logger of the configuration in force.
func (s *Scenario) log() *zap.Logger { return s.logger.Load() }

// Begin tells that a configuration with this scenario is in force, and where it
// logs. Origins are fetched in the background. If all recipes were forgotten,
// those of the configuration return.
func (s *Scenario) Begin(logger *zap.Logger) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logger.Store(logger)
	if len(s.table.Load().routes) == 0 && len(s.configured) > 0 {
		return s.restart()
	}
	if !s.begun {
		s.begin()
	}
	return nil
}

// Restart goes back to the recipes of the configuration, with a new clock.
func (s *Scenario) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restart()
}

func (s *Scenario) restart() error {
	if err := s.configure(); err != nil {
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

// configure puts the recipes of the configuration in force, and no others.
func (s *Scenario) configure() error {
	routes, err := newRoutes(s.configured, s.defaults)
	if err != nil {
		return err
	}
	return s.install(newTable(nil), routes)
}

// Add puts recipes in force at once, each in place of the one that its route
// had. Origins are fetched before: if one cannot be had, nothing changes.
func (s *Scenario) Add(ctx context.Context, list recipe.List) error {
	share := shareOf(list)
	if err := filling.Acquire(ctx, share); err != nil {
		return err
	}
	defer filling.Release(share)
	routes, err := newRoutes(list, s.defaults)
	if err != nil {
		return err
	}
	if err := fetchAll(ctx, list, routes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.table.Load()
	if err := before.checkRoom(list, routes); err != nil {
		return err
	}
	return s.install(before, routes)
}

// Forget removes all recipes, those of the configuration too, and their metrics.
func (s *Scenario) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(newTable(nil))
}

// Destruct ends what goes on in the background, and the metrics that no other
// scenario counts in. Requests that are in hand are answered as before.
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

// Decide says what a request for a path is answered, or that no route takes it.
// What the answer points to is shared and must not be changed.
func (s *Scenario) Decide(path string) (a response.Response, found bool) {
	r := s.table.Load().find(path)
	if r == nil {
		return response.Response{}, false
	}
	return r.decide(time.Now()), true
}
