// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// mappings are WireMock's stub mappings with what they need to be answered and
// counted.
type mappings struct {
	set      *wiremock.Set
	known    map[*wiremock.Mapping]known
	scenario *scenario.Scenario
	seed     *uint64             // nil: every run differs
	counters []*scenario.Outside // to be released
}

// known is what can be said of a mapping's answers before there is a request.
type known struct {
	response *response.Message // nil: a template makes it
	fault    response.Fault
	pace     response.Pace
	counter  *scenario.Outside
	decided  *atomic.Uint64 // how many requests it took, if there is a seed
}

// faults are WireMock's in our words.
var faults = map[wiremock.Fault]response.Fault{
	wiremock.ConnectionReset:   response.Reset,
	wiremock.EmptyResponse:     response.Empty,
	wiremock.MalformedResponse: response.Malformed,
	wiremock.RandomData:        response.Garbage,
}

// loadMappings reads the mappings of the configuration; nil if it has none.
func (h *Handler) loadMappings() ([]*wiremock.Mapping, error) {
	paths := make([]string, len(h.MappingFiles))
	for i, path := range h.MappingFiles {
		var err error
		if paths[i], err = caddy.NewReplacer().ReplaceOrErr(path, true, true); err != nil {
			return nil, fmt.Errorf("mapping files: %v", err)
		}
	}
	all, err := wiremock.Load(paths...)
	if err != nil {
		return nil, fmt.Errorf("loading mappings: %w", err)
	}
	if len(h.Mappings) > 0 {
		inline, err := wiremock.Parse(asWritten(h.Mappings), "mappings", h.MappingsRoot)
		if err != nil {
			return nil, fmt.Errorf("loading mappings: %w", err)
		}
		all = append(all, inline...)
	}
	return all, nil
}

// asWritten returns the JSON of mappings that stand in the configuration either
// themselves or as a text.
func asWritten(data json.RawMessage) []byte {
	var text string
	if bytes.HasPrefix(data, []byte(`"`)) && json.Unmarshal(data, &text) == nil {
		return []byte(text)
	}
	return data
}

// newMappings prepares mappings to be answered; nil if there are none.
func newMappings(all []*wiremock.Mapping, s *scenario.Scenario, seed *uint64) *mappings {
	if len(all) == 0 {
		return nil
	}
	m := &mappings{
		set:      wiremock.NewSet(all),
		known:    make(map[*wiremock.Mapping]known, len(all)),
		scenario: s,
		seed:     seed,
	}
	for _, mapping := range all {
		k := know(mapping, s)
		m.known[mapping] = k
		m.counters = append(m.counters, k.counter)
	}
	return m
}

// release drops the mappings' counters at the end of their configuration. Requests
// that come after that still get their responses.
func (m *mappings) release() {
	if m == nil {
		return
	}
	for _, counter := range m.counters {
		counter.Release()
	}
	m.counters = nil
}

// know prepares a mapping's answers.
func know(mapping *wiremock.Mapping, s *scenario.Scenario) known {
	said, fixed := mapping.Fixed()
	k := known{
		decided: new(atomic.Uint64),
		fault:   faults[said.Fault],
		pace:    response.Pace{Chunks: said.Dribble.Chunks, Duration: said.Dribble.Duration},
	}
	if fixed {
		k.response = messageOf(&said)
	}
	status := said.Status
	if !k.fault.Answers() {
		status = scenario.NoStatus
	}
	k.counter = s.Outside(mapping.Name(), status)
	return k
}

// decide returns the response of the mapping that matches a request, and whether
// one does. The error is that of reading the request's body.
func (m *mappings) decide(r *wiremock.Request) (a response.Response, found bool, err error) {
	mapping, err := m.set.Match(r)
	if mapping == nil {
		return response.Response{}, false, tooMuch(err)
	}
	k := m.known[mapping]
	chance := m.drawsOf(mapping, &k)
	r.Random = chance
	said, err := mapping.Respond(r)
	if err != nil {
		return response.Response{}, false, tooMuch(err)
	}
	a = response.Response{
		Message: k.response,
		Latency: said.Wait(chance),
		Fault:   k.fault,
		Pace:    k.pace,
		Route:   mapping.Name(),
	}
	if a.Message == nil {
		a.Message = messageOf(&said)
	}
	k.counter.Count(a.Latency)
	return a, true, nil
}

// drawsOf returns what the response to a request is drawn from. That of a seed is
// the same for every request of a mapping by their order, whatever other
// mappings are asked at the same time.
func (m *mappings) drawsOf(mapping *wiremock.Mapping, k *known) rand.Source {
	if m.seed == nil {
		return latency.Random()
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(mapping.Name()))
	draws := latency.DrawsOf(*m.seed^hash.Sum64(), k.decided.Add(1))
	return &draws
}

// match reports whether a mapping takes a request, or is to say why it cannot tell.
func (m *mappings) match(r *wiremock.Request) bool {
	mapping, err := m.set.Match(r)
	return mapping != nil || err != nil
}

// tooMuch has a request that would cost too much refused, not failed.
func tooMuch(err error) error {
	if errors.Is(err, wiremock.ErrTooMuch) {
		return caddyhttp.Error(http.StatusRequestEntityTooLarge, err)
	}
	return err
}

// unmatched answers a request for which there is neither mapping nor recipe.
func (m *mappings) unmatched(r *wiremock.Request) response.Response {
	return m.scenario.Unmatched(m.set.Closest(r))
}

// messageOf makes a message of what a mapping says. Without a Content-Type of
// its own it has none, as with WireMock.
func messageOf(said *wiremock.Response) *response.Message {
	var fields []response.Field
	at := make(map[string]int)
	for _, line := range said.Header {
		if i, ok := at[line.Name]; ok {
			fields[i].Values = append(fields[i].Values, line.Value)
			continue
		}
		at[line.Name] = len(fields)
		fields = append(fields, response.NewField(line.Name, line.Value))
	}
	if _, ok := at["Content-Type"]; !ok {
		fields = append(fields, response.NewField("Content-Type"))
	}
	return response.NewMessage(said.Status, fields, response.Bytes(said.Body))
}
