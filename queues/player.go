// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/broker"
)

// player is a service that runs: it decides what a request is answered.
type player struct {
	*Service
	broker     string
	conditions conditions
	mappings   *wiremock.Set // nil: there are none
	loaded     []*wiremock.Mapping
	stages     recipe.MessageStages // in their order
	scenario   *scenario.Scenario   // nil: there are no stages
	decided    atomic.Uint64        // by mappings, if there is a seed

	counts  map[string]*count
	asleep  prometheus.Gauge
	latency prometheus.Observer
	again   prometheus.Counter
}

// count counts requests of one result.
type count struct {
	n      atomic.Uint64
	metric prometheus.Counter
}

// load reads all that the service needs and has no effect: it is done for
// validation too.
func (s *Service) load() (p *player, err error) {
	p = &player{Service: s, broker: s.Broker}
	if p.conditions, err = newConditions(s.Match); err != nil {
		return nil, err
	}
	if err := p.loadMappings(); err != nil {
		return nil, err
	}
	r, err := s.recipe()
	if err != nil || len(r.Stages) == 0 {
		return p, err
	}
	p.stages = recipe.MessageStages(r.Stages)
	p.scenario, err = scenario.New(s.Name, recipe.List{r}, scenario.Defaults{Private: true})
	return p, err
}

func (p *player) loadMappings() error {
	if len(p.MappingFiles) == 0 {
		return nil
	}
	paths := make([]string, len(p.MappingFiles))
	for i, path := range p.MappingFiles {
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
		for _, asked := range []struct {
			field string
			given bool
		}{
			{"proxyBaseUrl", m.Proxies()}, {"a webhook", m.HasCalls()}, {"fault", fixed.Fault != ""}, {"chunkedDribbleDelay", fixed.Dribble.Chunks > 0},
		} {
			if asked.given {
				faults = append(faults, fmt.Errorf("mapping_files: %s: mapping '%s': %s is for HTTP: a message has none", m.File(), m.Name(), asked.field))
			}
		}
	}
	if faults != nil {
		return errors.Join(faults...)
	}
	p.mappings, p.loaded = wiremock.NewSet(list), list
	return nil
}

// begin has the player count.
func (p *player) begin(logger *zap.Logger) error {
	p.counts = make(map[string]*count, len(results))
	for _, result := range results {
		p.counts[result] = &count{metric: requestsTotal.WithLabelValues(p.broker, p.Name, result)}
	}
	p.asleep = asleep.WithLabelValues(p.broker, p.Name)
	p.latency = latencySeconds.WithLabelValues(p.broker, p.Name)
	p.again = redelivered.WithLabelValues(p.broker, p.Name)
	if p.scenario == nil {
		return nil
	}
	return p.scenario.Begin(logger)
}

// end lets go of the recipe.
func (p *player) end() {
	if p.scenario != nil {
		_ = p.scenario.Destruct() // never fails
	}
}

func (p *player) count(result string) {
	c := p.counts[result]
	c.n.Add(1)
	c.metric.Inc()
}

// errUnmatched is the error of a request that nothing takes.
var errUnmatched = errors.New("nothing matches it")

// decision is what a request is answered, and when.
type decision struct {
	body       []byte
	properties []broker.Property
	wait       time.Duration
	fault      response.Fault
	late       time.Duration
}

// decide returns what a request is answered.
func (p *player) decide(d *broker.Delivery, r *wiremock.Request) (decision, error) {
	if p.mappings != nil {
		m, err := p.mappings.Match(r)
		if err != nil {
			return decision{}, err
		}
		if m != nil {
			return p.respond(m, r)
		}
	}
	if p.scenario == nil {
		return decision{}, errUnmatched
	}
	a, found := p.scenario.Decide(scenario.Request{Method: r.Method, Path: "/", Target: r.Target, Fields: fields{d}})
	if !found {
		return decision{}, errUnmatched
	}
	body, err := bodyOf(&a)
	if err != nil {
		return decision{}, err
	}
	said := decision{body: body, wait: a.Latency, fault: a.Fault}
	headers := [2]recipe.Headers{p.Headers}
	if a.Stage > 0 && a.Branch > 0 {
		o := &p.stages[a.Stage-1].Outcomes[a.Branch-1]
		headers[1] = o.Headers
		if o.Fault != nil {
			said.late = time.Duration(o.Fault.Delay)
		}
	}
	for _, list := range headers {
		for _, h := range list {
			said.properties = append(said.properties, broker.Property{Name: h.Name, Value: h.Values[len(h.Values)-1]})
		}
	}
	return said, nil
}

// respond returns the answer of a mapping.
func (p *player) respond(m *wiremock.Mapping, r *wiremock.Request) (decision, error) {
	source := p.drawsOf(m)
	r.Random = source
	a, err := m.Respond(r)
	if err != nil {
		return decision{}, err
	}
	said := decision{body: a.Body, wait: a.Wait(nil, source)}
	for _, f := range a.Header {
		said.properties = append(said.properties, broker.Property{Name: f.Name, Value: f.Value})
	}
	return said, nil
}

// drawsOf returns what the answer of a mapping is drawn from.
func (p *player) drawsOf(m *wiremock.Mapping) rand.Source {
	if p.Seed == nil {
		return latency.Random()
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(m.Name()))
	draws := latency.DrawsOf(*p.Seed^hash.Sum64(), p.decided.Add(1))
	return &draws
}

// bodyOf returns the body of a response whole.
func bodyOf(a *response.Response) ([]byte, error) {
	if len(a.Content.Parts) == 1 && a.Content.File == "" {
		return a.Content.Parts[0], nil
	}
	body, _, err := a.Content.Open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, recipe.LargestBody+1))
	if err == nil && len(data) > recipe.LargestBody {
		err = fmt.Errorf("the body file has more than %d bytes", recipe.LargestBody)
	}
	return data, err
}

// answer makes the message of a decision.
func (p *player) answer(d *broker.Delivery, said *decision) *broker.Message {
	m := &broker.Message{
		Address:     p.replyTo(d),
		Body:        said.body,
		Kind:        d.Kind,
		ContentType: d.ContentType,
		Durable:     d.Durable,
		Priority:    d.Priority,
		Typed:       d.Typed,
	}
	switch p.BodyType {
	case textBody:
		m.Kind, m.ContentType = broker.Text, ""
	case bytesBody:
		m.Kind, m.ContentType = broker.Bytes, ""
	}
	if said.fault == response.Poison {
		m.Kind, m.ContentType = broker.Text+broker.Bytes-m.Kind, ""
	}
	if m.CorrelationID = d.CorrelationID; p.Correlation == messageID || p.Correlation == auto && m.CorrelationID == nil {
		m.CorrelationID = d.ID
	}
	m.Properties = make([]broker.Property, 0, len(d.Properties)+len(said.properties))
	own := func(name string) bool {
		for _, p := range said.properties {
			if strings.EqualFold(p.Name, name) {
				return true
			}
		}
		return false
	}
	for _, property := range d.Properties {
		if !own(property.Name) {
			m.Properties = append(m.Properties, property)
		}
	}
	for i, property := range said.properties {
		switch {
		case strings.EqualFold(property.Name, "Content-Type"):
			m.ContentType = fmt.Sprint(property.Value)
		case !repeated(said.properties[i+1:], property.Name):
			m.Properties = append(m.Properties, property)
		}
	}
	return m
}

// repeated reports whether a name comes again: the last one counts.
func repeated(list []broker.Property, name string) bool {
	for _, p := range list {
		if strings.EqualFold(p.Name, name) {
			return true
		}
	}
	return false
}

// replyTo returns where the answer goes; empty if that is not known.
func (p *player) replyTo(d *broker.Delivery) string {
	if d.ReplyTo != "" {
		return d.ReplyTo
	}
	return p.ReplyTo
}
