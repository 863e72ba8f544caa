// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Started is the state in which every scenario begins.
const Started = "Started"

// step is what a mapping asks of its scenario and makes of it.
type step struct {
	scenario string
	required string // the state in which the mapping holds; empty: in any
	next     string // the state after a response; empty: as before
}

// parseStep takes the fields about a scenario. Without its name they mean nothing,
// as with WireMock.
func (f *fields) parseStep() (*step, error) {
	var s step
	for name, target := range map[string]*string{
		"scenarioName": &s.scenario, "requiredScenarioState": &s.required, "newScenarioState": &s.next,
	} {
		if _, err := f.into(name, target); err != nil {
			return nil, err
		}
	}
	if s.scenario == "" {
		return nil, nil
	}
	return &s, nil
}

// Scenarios are the states of the scenarios that mappings have, for all sets that
// were made with them. Any number of goroutines may use them.
type Scenarios struct {
	mu sync.Mutex // held to change a state
	// changes grows before a state is changed and again after that: what was read
	// while it was the same even number was there at one moment.
	changes atomic.Uint64
	states  map[string]*atomic.Pointer[string]
}

// NewScenarios returns scenarios of which none has begun.
func NewScenarios() *Scenarios {
	return &Scenarios{states: make(map[string]*atomic.Pointer[string])}
}

// hold begins the scenarios of mappings that are not known yet and forgets those
// that no mapping has.
func (s *Scenarios) hold(mappings []*Mapping) map[string]*atomic.Pointer[string] {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[string]*atomic.Pointer[string])
	for _, m := range mappings {
		if m.step == nil || held[m.step.scenario] != nil {
			continue
		}
		state := s.states[m.step.scenario]
		if state == nil {
			state = new(atomic.Pointer[string])
			started := Started
			state.Store(&started)
		}
		held[m.step.scenario] = state
	}
	s.states = maps.Clone(held)
	return held
}

// Reset has all scenarios begin again.
func (s *Scenarios) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.Add(1)
	for _, state := range s.states {
		started := Started
		state.Store(&started)
	}
	s.changes.Add(1)
}

// put changes a state for those who hold the lock.
func (s *Scenarios) put(held *atomic.Pointer[string], state *string) {
	s.changes.Add(1)
	held.Store(state)
	s.changes.Add(1)
}

// NoScenarioError is that of a scenario which no mapping has.
type NoScenarioError struct{ Name string }

func (e *NoScenarioError) Error() string { return fmt.Sprintf("Scenario %s does not exist", e.Name) }

// set puts a scenario in a state.
func (s *Scenarios) set(name, state string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.states[name]
	if held == nil {
		return &NoScenarioError{name}
	}
	s.put(held, &state)
	return nil
}

// Scenario is one scenario for those who ask how it stands.
type Scenario struct {
	Name     string
	State    string
	Possible []string // the states that its mappings name, in their order
	Mappings []*Mapping
}

// Scenarios returns the scenarios of the set's mappings, by name.
func (s *Set) Scenarios() []Scenario {
	byName := make(map[string]*Scenario)
	for _, m := range s.added {
		if m.step == nil {
			continue
		}
		one := byName[m.step.scenario]
		if one == nil {
			one = &Scenario{Name: m.step.scenario, State: *s.states[m.step.scenario].Load()}
			byName[one.Name] = one
		}
		one.Mappings = append(one.Mappings, m)
		for _, state := range []string{m.step.required, m.step.next} {
			if state != "" && !slices.Contains(one.Possible, state) {
				one.Possible = append(one.Possible, state)
			}
		}
	}
	list := make([]Scenario, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, *byName[name])
	}
	return list
}

// SetState puts a scenario in a state that one of its mappings names; in that with
// which it began, if the state is empty.
func (s *Set) SetState(name, state string) error {
	if state == "" {
		return s.scenarios.set(name, Started)
	}
	for _, one := range s.Scenarios() {
		if one.Name == name && !slices.Contains(one.Possible, state) {
			return fmt.Errorf("Scenario %s does not support state %s", name, state) //nolint:staticcheck // WireMock's words
		}
	}
	return s.scenarios.set(name, state)
}

// allows reports whether a mapping's scenario is in the state that it asks for.
func (s *Set) allows(m *Mapping) bool {
	return m.step == nil || m.step.required == "" || *s.states[m.step.scenario].Load() == m.step.required
}

// patience is how often a request is matched again since states have changed
// meanwhile, before they are kept from changing.
const patience = 3

// matchInStates matches a request and moves the scenario of the mapping that it
// finds. Both happen at one moment: no other request sees the same states and
// moves them too.
func (s *Set) matchInStates(r *Request) (*Mapping, error) {
	for range patience {
		before := s.scenarios.changes.Load()
		if before%2 == 1 {
			continue // it is being changed
		}
		m, err := s.Find(r)
		if err != nil {
			return nil, err
		}
		if !s.moves(m) {
			if s.scenarios.changes.Load() == before {
				return m, nil
			}
			continue
		}
		s.scenarios.mu.Lock()
		same := s.scenarios.changes.Load() == before
		if same {
			s.move(m)
		}
		s.scenarios.mu.Unlock()
		if same {
			return m, nil
		}
	}
	r.bodyDocument() // what may take its time is done before others have to wait
	s.scenarios.mu.Lock()
	defer s.scenarios.mu.Unlock()
	m, err := s.Find(r)
	if err == nil && s.moves(m) {
		s.move(m)
	}
	return m, err
}

// moves reports whether a response of a mapping changes the state of its scenario.
func (s *Set) moves(m *Mapping) bool {
	return m != nil && m.step != nil && m.step.next != "" && *s.states[m.step.scenario].Load() != m.step.next
}

// move puts the scenario of a mapping that answers in its next state.
func (s *Set) move(m *Mapping) {
	s.scenarios.put(s.states[m.step.scenario], &m.step.next)
}
