// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package stubs runs WireMock's stub mappings: it decides responses by them,
// counts these, keeps the states of scenarios and a journal of requests, makes the
// calls that mappings ask for, and serves WireMock's own admin API.
package stubs

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// Stubs are mappings that run. Any number of goroutines may use them.
type Stubs struct {
	options    Options
	configured []*wiremock.Mapping
	journal    *journal // nil: nobody can ask for it
	calls      *caller
	api        http.Handler
	began      time.Time
	logger     atomic.Pointer[zap.Logger]

	states   *wiremock.Scenarios
	settings atomic.Pointer[settings]
	table    atomic.Pointer[table] // nil: the mappings have changed since it was made

	mu      sync.Mutex // held to change the mappings; guards what follows
	list    []*wiremock.Mapping
	size    int64 // of memory that they take, about
	byID    map[string]*wiremock.Mapping
	known   map[*wiremock.Mapping]*known
	retired bool
}

// Options are what holds for all mappings.
type Options struct {
	// Scenario counts the responses.
	Scenario *scenario.Scenario
	// Seed makes random choices the same in every run. Nil: every run differs.
	Seed *uint64
	// Journal is what is kept of requests. Nil: nothing.
	Journal *JournalOptions
	// Loader reads mappings that are added.
	Loader wiremock.Loader
	// Root is the directory that mappings are saved in. Empty: none can be saved.
	Root string
	// Files is the directory in or beside which the folder `__files` is, for
	// mappings that are added.
	Files string
}

// New puts mappings in force. Destruct ends what they hold.
func New(configured []*wiremock.Mapping, options Options) *Stubs {
	s := &Stubs{
		options:    options,
		configured: configured,
		began:      time.Now(),
		states:     wiremock.NewScenarios(),
		known:      make(map[*wiremock.Mapping]*known, len(configured)),
	}
	s.logger.Store(zap.NewNop())
	s.calls = newCaller(options.Scenario.Name(), s.log)
	if options.Journal != nil {
		s.journal, s.api = newJournal(*options.Journal), newAPI(s)
	}
	s.replace(configured)
	s.current()
	return s
}

// Use makes the stubs log as the configuration in force does.
func (s *Stubs) Use(logger *zap.Logger) { s.logger.Store(logger) }

func (s *Stubs) log() *zap.Logger { return s.logger.Load() }

// Destruct releases the counters of all mappings and of calls that are due later.
// Requests that come after that still get their responses.
func (s *Stubs) Destruct() error {
	s.calls.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	for _, k := range s.known {
		k.counter.Release()
	}
	s.known = nil
	return nil
}

// More is what there is to do for a request beside a response.
type More struct {
	// Proxy is set if another server responds; then only the latency of the
	// response counts.
	Proxy *wiremock.Proxy

	calls   []wiremock.Call
	mapping *wiremock.Mapping
	counter *scenario.Outside
	event   *event // in the journal; nil: there is none
}

// Decide makes a the response of the mapping that matches a request, and reports
// whether one does. More is nil if that is all. The error is that of reading the
// request's body, or wiremock.ErrTooMuch. What is served is in the journal before
// the client sees it.
func (s *Stubs) Decide(r *wiremock.Request, from Source, a *response.Response) (more *More, found bool, err error) {
	t := s.current()
	mapping, err := t.Match(r)
	if mapping == nil {
		return nil, false, err
	}
	k := t.known[mapping]
	chance := s.drawsOf(mapping, k)
	r.Random = chance
	said, err := mapping.Respond(r)
	if err != nil {
		return nil, false, err
	}
	a.Message, a.Fault, a.Pace, a.Route = k.response, k.fault, k.pace, mapping.Name()
	a.Latency = said.Wait(s.wait(), chance)
	switch {
	case a.Message != nil:
	case said.NoFile:
		a.Message = messageOf(said)
	case k.bodyOnly:
		a.Message = k.head.WithContent(response.Bytes(said.Body))
	default:
		a.Message = k.with(said)
	}
	if said.Proxy != nil || mapping.HasCalls() {
		more = &More{Proxy: said.Proxy, mapping: mapping, counter: k.counter}
		calls, faults := mapping.Calls(r, chance)
		for more.calls = calls; len(faults) > 0; faults = faults[1:] {
			s.calls.failed(faults[0])
		}
	}
	switch {
	case said.Proxy != nil: // counted when it is known
	case said.NoFile && k.fault.Answers():
		k.counter.CountAs(said.Status, a.Latency)
	default:
		k.counter.Count(a.Latency)
	}
	switch {
	case s.journal == nil:
	case said.Proxy != nil:
		more.event = s.journal.add(r, from, mapping, nil, false)
	default:
		s.journal.add(r, from, mapping, a, a.Message == k.response)
	}
	return more, true, nil
}

// Proxied counts what another server responded.
func (m *More) Proxied(status int, latency time.Duration) {
	m.counter.CountAs(status, latency)
	if m.event != nil {
		m.event.answer.Store(&response.Response{Message: response.NewMessage(status, nil, response.Content{}), Latency: latency})
	}
}

// After makes the calls of a mapping, in the background, once it has responded.
func (s *Stubs) After(m *More) {
	if m != nil && m.calls != nil {
		s.calls.add(m.calls, m.mapping.Name())
	}
}

// Unmatched keeps a request in the journal that no mapping took, and returns the
// response to it.
func (s *Stubs) Unmatched(r *wiremock.Request, from Source) response.Response {
	a := s.options.Scenario.Unmatched(s.current().Closest(r))
	s.Missed(r, from, &a)
	return a
}

// Missed keeps a request in the journal that something else than a mapping
// answers: nil, if it is not known how.
func (s *Stubs) Missed(r *wiremock.Request, from Source, a *response.Response) {
	if s.journal != nil {
		s.journal.add(r, from, nil, a, false)
	}
}

// Takes reports whether a mapping takes a request, or is to say why it cannot tell.
// Scenarios stay as they are.
func (s *Stubs) Takes(r *wiremock.Request) bool {
	mapping, err := s.current().Find(r)
	return mapping != nil || err != nil
}

// Proxies reports whether a mapping may have another server respond. Nil has no
// mappings.
func (s *Stubs) Proxies() bool { return s != nil && s.current().proxies }
