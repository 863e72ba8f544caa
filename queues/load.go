// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// service is a Service that runs.
type service struct {
	*Service
	broker     string
	conditions conditions
	mappings   *wiremock.Set // nil: there are none
	loaded     []*wiremock.Mapping
	stages     recipe.MessageStages // in their order
	scenario   *scenario.Scenario   // nil: there are no stages
	decided    atomic.Uint64        // by mappings, if there is a seed

	counts      map[string]*count
	asleep      prometheus.Gauge
	latency     prometheus.Observer
	redelivered prometheus.Counter
}

// count counts requests of one result.
type count struct {
	n      atomic.Uint64
	metric prometheus.Counter
}

// load reads all that the service needs and has no effect: it is done for
// validation too.
func (s *Service) load() (svc *service, err error) {
	svc = &service{Service: s, broker: s.Broker}
	if svc.conditions, err = newConditions(s.Match); err != nil {
		return nil, err
	}
	if err := svc.loadMappings(); err != nil {
		return nil, err
	}
	r, err := s.recipe()
	if err != nil || len(r.Stages) == 0 {
		return svc, err
	}
	svc.stages = recipe.MessageStages(r.Stages)
	svc.scenario, err = scenario.New(s.Name, recipe.List{r}, scenario.Defaults{Private: true})
	return svc, err
}

func (svc *service) loadMappings() error {
	if len(svc.MappingFiles) == 0 {
		return nil
	}
	paths := make([]string, len(svc.MappingFiles))
	for i, path := range svc.MappingFiles {
		var err error
		if paths[i], err = caddy.NewReplacer().ReplaceOrErr(path, true, true); err != nil {
			return fmt.Errorf("mapping_files: %v", err)
		}
	}
	list, err := wiremock.Load(paths...)
	if err != nil {
		return fmt.Errorf("mapping_files: %w", err)
	}
	var faults []error
	for _, m := range list {
		fixed, _ := m.Fixed()
		for _, option := range []struct {
			field string
			given bool
		}{
			{"proxyBaseUrl", m.Proxies()}, {"a webhook", m.HasCalls()}, {"fault", fixed.Fault != ""}, {"chunkedDribbleDelay", fixed.Dribble.Chunks > 0},
		} {
			if option.given {
				faults = append(faults, fmt.Errorf("mapping_files: %s: mapping '%s': %s is for HTTP: a message has none", m.File(), m.Name(), option.field))
			}
		}
	}
	if faults != nil {
		return errors.Join(faults...)
	}
	svc.mappings, svc.loaded = wiremock.NewSet(list), list
	return nil
}

// begin registers the counts of the service, and starts its clock.
func (svc *service) begin(logger *zap.Logger) error {
	svc.counts = make(map[string]*count, len(results))
	for _, result := range results {
		svc.counts[result] = &count{metric: requestsTotal.WithLabelValues(svc.broker, svc.Name, result)}
	}
	svc.asleep = asleep.WithLabelValues(svc.broker, svc.Name)
	svc.latency = latencySeconds.WithLabelValues(svc.broker, svc.Name)
	svc.redelivered = redelivered.WithLabelValues(svc.broker, svc.Name)
	if svc.scenario == nil {
		return nil
	}
	return svc.scenario.Begin(logger)
}

// end releases the recipe.
func (svc *service) end() {
	if svc.scenario != nil {
		_ = svc.scenario.Destruct() // never fails
	}
}

func (svc *service) count(result string) {
	c := svc.counts[result]
	c.n.Add(1)
	c.metric.Inc()
}
