// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// table is the mappings in force with what is known of them.
type table struct {
	*wiremock.Set
	known   map[*wiremock.Mapping]*known
	proxies bool // some have another server respond
}

// known is what can be said of a mapping's answers before there is a request.
type known struct {
	response *response.Message // nil: it is made for each request
	head     *response.Message // what is the same of those
	bodyOnly bool              // is made then: the header is that of head
	fault    response.Fault
	pace     response.Pace
	counter  *scenario.Outside
	decided  atomic.Uint64 // how many requests it took, if there is a seed
}

// faults are WireMock's in our words.
var faults = map[wiremock.Fault]response.Fault{
	wiremock.ConnectionReset:   response.Reset,
	wiremock.EmptyResponse:     response.Empty,
	wiremock.MalformedResponse: response.Malformed,
	wiremock.RandomData:        response.Garbage,
}

// current returns the table of the mappings in force. It is made when the first
// request needs it, so that many mappings can be added in a row.
func (s *Stubs) current() *table {
	if t := s.table.Load(); t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made()
}

// made is current for callers that hold the lock.
func (s *Stubs) made() *table {
	if t := s.table.Load(); t != nil {
		return t
	}
	t := &table{
		Set:     wiremock.NewSetIn(s.states, s.list),
		known:   maps.Clone(s.known),
		proxies: slices.ContainsFunc(s.list, (*wiremock.Mapping).Proxies),
	}
	s.table.Store(t)
	return t
}

// replace puts a list of mappings in the place of the one in force. Those that are
// in both count on.
func (s *Stubs) replace(list []*wiremock.Mapping) {
	s.list, s.size = list, sizeOf(list)
	before := s.known
	s.known = make(map[*wiremock.Mapping]*known, len(list))
	s.byID = make(map[string]*wiremock.Mapping, len(list))
	for _, m := range list {
		s.byID[m.ID()] = m
		if k := before[m]; k != nil {
			s.known[m] = k
			delete(before, m)
		} else {
			s.known[m] = know(m, s.options.Scenario)
		}
	}
	for _, k := range before {
		k.counter.Release()
	}
	s.table.Store(nil)
}

// know prepares a mapping's answers.
func know(mapping *wiremock.Mapping, s *scenario.Scenario) *known {
	said, fixed := mapping.Fixed()
	k := &known{
		fault: faults[said.Fault],
		pace:  response.Pace{Chunks: said.Dribble.Chunks, Duration: said.Dribble.Duration},
	}
	k.head, k.bodyOnly = messageOf(said), mapping.HasFixedHeader()
	if fixed {
		k.response = k.head
	}
	status := said.Status
	if !k.fault.Answers() {
		status = scenario.NoStatus
	}
	k.counter = s.Outside(mapping.Name(), status)
	return k
}

// drawsOf returns what the response to a request is drawn from. That of a seed is
// the same for every request of a mapping by their order, whatever other
// mappings are asked at the same time.
func (s *Stubs) drawsOf(mapping *wiremock.Mapping, k *known) rand.Source {
	if s.options.Seed == nil {
		return latency.Random()
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(mapping.Name()))
	draws := latency.DrawsOf(*s.options.Seed^hash.Sum64(), k.decided.Add(1))
	return &draws
}

// with returns the message of a response whose header has values of its own.
func (k *known) with(said *wiremock.Response) *response.Message {
	if slices.ContainsFunc(k.head.Fields, func(f response.Field) bool { return len(f.Values) > 1 }) {
		return messageOf(said)
	}
	return k.head.ForOne(said.Status, said.Body, len(said.Header), func(i int) string { return said.Header[i].Value })
}

// messageOf makes a message of what a mapping says. Without a Content-Type of
// its own it has none, as with WireMock.
func messageOf(said *wiremock.Response) *response.Message {
	fields := make([]response.Field, 0, len(said.Header)+1)
	place := func(name string) int {
		return slices.IndexFunc(fields, func(f response.Field) bool { return f.Name == name })
	}
	for _, line := range said.Header {
		if i := place(http.CanonicalHeaderKey(line.Name)); i >= 0 {
			fields[i].Values = append(fields[i].Values, line.Value)
			continue
		}
		fields = append(fields, response.NewField(line.Name, line.Value))
	}
	if place("Content-Type") < 0 {
		fields = append(fields, response.NewField("Content-Type"))
	}
	m := response.NewMessage(said.Status, fields, response.Bytes(said.Body))
	m.Reason = said.StatusMessage
	return m
}
