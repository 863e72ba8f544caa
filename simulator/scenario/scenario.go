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

	"github.com/caddy-rehearsal/rehearsal/simulator/answer"
	"github.com/caddy-rehearsal/rehearsal/simulator/recipe"
)

// Scenario is recipes that run. Any number of goroutines may use it.
type Scenario struct {
	name       string
	logger     *zap.Logger
	configured recipe.List
	defaults   Defaults

	table atomic.Pointer[table] // replaced whole, so that deciding takes no lock
	unset *counts               // of requests that no route took

	mu      sync.Mutex // held to replace the table; guards what follows
	begun   bool
	former  Counts             // of routes that are no more
	outside map[string]*counts // of what is not decided by recipes, by name

	ctx    context.Context // of what is fetched in the background
	cancel context.CancelFunc
}

// Defaults are what holds for recipes that do not say it themselves.
type Defaults struct {
	// Seed makes random choices the same in every run.
	Seed *uint64
}

// New makes a scenario of the recipes that a configuration has. Their clock
// starts; their origins are not asked before Begin.
func New(name string, configured recipe.List, defaults Defaults, logger *zap.Logger) (*Scenario, error) {
	s := &Scenario{
		name:       name,
		logger:     logger,
		configured: configured,
		defaults:   defaults,
		unset:      newCounts(name, noRoute),
		former:     make(Counts),
		outside:    make(map[string]*counts),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.table.Store(newTable(nil))
	if err := s.configure(); err != nil {
		return nil, err
	}
	return s, nil
}

// Name gives the name that the configuration has for the scenario.
func (s *Scenario) Name() string { return s.name }

// Begin tells that the configuration is in force: its origins are fetched in
// the background. If all recipes were forgotten, those of the configuration
// return.
func (s *Scenario) Begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.table.Load().routes) == 0 && len(s.configured) > 0 {
		if err := s.configure(); err != nil {
			return err
		}
		s.begun = false
	}
	if !s.begun {
		s.begun = true
		s.fetchInBackground(s.table.Load().routes)
	}
	return nil
}

// configure puts the recipes of the configuration in force.
func (s *Scenario) configure() error {
	routes, err := newRoutes(s.configured, s.defaults)
	if err != nil {
		return err
	}
	return s.install(routes)
}

// Add puts recipes in force at once, each in place of the one that its route
// had. Origins are fetched before: if one cannot be had, nothing changes.
func (s *Scenario) Add(ctx context.Context, list recipe.List) error {
	routes, err := newRoutes(list, s.defaults)
	if err != nil {
		return err
	}
	if err := fetchAll(ctx, list, routes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.install(routes)
}

// install starts the clock of routes and puts them into the table. What was
// counted for a pattern stays with it.
func (s *Scenario) install(routes []*route) error {
	before := s.table.Load()
	after, err := before.with(routes)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, r := range routes {
		counts := newCounts(s.name, r.recipe.Route)
		if old := before.get(r.recipe.Route); old != nil {
			counts = old.counts
		}
		r.start(counts, now)
	}
	s.table.Store(after)
	return nil
}

// Forget removes all recipes, those of the configuration too.
func (s *Scenario) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.table.Load().routes {
		s.former.add(r.counts.byStatus())
	}
	s.table.Store(newTable(nil))
}

// Restart goes back to the recipes of the configuration, with a new clock.
func (s *Scenario) Restart() error {
	s.Forget()
	return s.Begin()
}

// Destruct ends what goes on in the background. Requests that are in hand are
// answered as before.
func (s *Scenario) Destruct() error {
	s.cancel()
	return nil
}

// Decide says what a request for a path is answered, or that no route takes it.
// What the answer points to is shared and must not be changed.
func (s *Scenario) Decide(path string) (a answer.Answer, found bool) {
	r := s.table.Load().find(path)
	if r == nil {
		return answer.Answer{}, false
	}
	return r.decide(time.Now()), true
}
