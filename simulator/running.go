// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/simulator/internal/stubs"
)

// scenarios are those that run, by identity. They outlive a configuration as
// long as the next one has them too.
var scenarios = caddy.NewUsagePool()

// names are the ones that a configuration uses, by claim.
var names = caddy.NewUsagePool()

// identity is what a scenario is known by across configurations.
type identity struct{ name, content string }

// claim is a name within one configuration, which its registry stands for.
type claim struct {
	registry *prometheus.Registry
	name     string
}

// hold is one usage of something in a pool.
type hold struct {
	pool *caddy.UsagePool
	key  any
}

// running is a scenario and its place in the order of their beginnings.
type running struct {
	*scenario.Scenario
	number uint64
}

var begun atomic.Uint64

// acquire finds the scenario of the recipes or begins it, and holds it until the
// handler is cleaned up.
func (h *Handler) acquire(ctx caddy.Context, recipes recipe.List) (id identity, err error) {
	content, err := h.fingerprint(recipes)
	if err != nil {
		return id, err
	}
	id = identity{h.Name, content}
	if id.name == "" {
		id.name = "simulator-" + content[:8]
	}
	if err := h.claimName(ctx, id); err != nil {
		return id, err
	}
	h.logger = h.logger.With(zap.String("simulator", id.name))
	value, known, err := scenarios.LoadOrNew(id, func() (caddy.Destructor, error) {
		s, err := scenario.New(id.name, recipes, scenario.Defaults{Seed: h.Seed})
		return &running{s, begun.Add(1)}, err
	})
	if err != nil {
		return id, err
	}
	h.held = append(h.held, hold{scenarios, id})
	h.scenario = value.(*running).Scenario
	if !known {
		h.logger.Info("scenario starts", zap.Int("recipes", len(recipes)))
		warnOfBodies(h.logger, recipes)
	}
	return id, nil
}

// claimName refuses a name that something else in the same configuration has.
func (h *Handler) claimName(ctx caddy.Context, id identity) error {
	key := claim{ctx.GetMetricsRegistry(), id.name}
	content, _ := names.LoadOrStore(key, id.content)
	h.held = append(h.held, hold{names, key})
	if content != id.content {
		return fmt.Errorf("name: two simulators with different recipes are called '%s'", id.name)
	}
	return nil
}

// fingerprint returns a hash of what the handler plays: the recipes, what holds
// for all of them, and the files that they serve.
func (h *Handler) fingerprint(recipes recipe.List) (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode([]any{recipes, h.Start, h.Seed}); err != nil {
		return "", err
	}
	for _, r := range recipes {
		for field, name := range r.BodyFiles() {
			info, err := os.Stat(name)
			if err != nil {
				return "", fmt.Errorf("route %s: %s: %w", r.Route, field, units.LookedIn(err, name))
			}
			fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// all returns the scenarios that run, sorted by name. Of two with the same name,
// as there are during a reload, it returns the one that began later.
func all() []*running {
	latest := make(map[string]*running)
	scenarios.Range(func(_, value any) bool {
		r := value.(*running)
		if other, ok := latest[r.Name()]; !ok || r.number > other.number {
			latest[r.Name()] = r
		}
		return true
	})
	return slices.SortedFunc(maps.Values(latest), func(a, b *running) int {
		return strings.Compare(a.Name(), b.Name())
	})
}

// collectors are the metrics of all simulators.
func collectors() []prometheus.Collector {
	return slices.Concat(scenario.Collectors(), stubs.Collectors(), []prometheus.Collector{inForce})
}

// inForce collects the number of the stage in force of every route, looked up at
// each scrape.
var inForce prometheus.Collector = stageCollector{prometheus.NewDesc(
	"caddy_simulator_stage",
	"Number of the stage in force, counted from 1; 0 before the first.",
	[]string{"simulator", "route"}, nil,
)}

type stageCollector struct{ desc *prometheus.Desc }

// Describe sends the description of the one metric.
func (c stageCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect sends the stage in force of every route of every scenario that runs.
func (c stageCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, r := range all() {
		for _, status := range r.Status() {
			metrics <- prometheus.MustNewConstMetric(
				c.desc, prometheus.GaugeValue, float64(status.Stage), r.Name(), status.Route)
		}
	}
}
