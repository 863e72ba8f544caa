// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"reflect"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

type total struct {
	Total int `json:"total"`
}

// listOf returns mappings as the API lists them, with how many there are in all.
func listOf(list []*wiremock.Mapping, all int) listing {
	return listing{"mappings", each(list, func(m *wiremock.Mapping) any { return m.JSON() }), map[string]any{"meta": total{all}}}
}

// each returns what is shown of the elements of a list.
func each[T any](list []T, shown func(T) any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, one := range list {
			if !yield(shown(one)) {
				return
			}
		}
	}
}

var errNoMapping = notFound("Stub mapping not found")

// asked returns the mapping that a path or a posted mapping names.
func (s *Stubs) asked(c *inquiry) (*wiremock.Mapping, error) {
	id := c.PathValue("id")
	if id == "" {
		id = wiremock.IDOf(c.body)
	} else if !wiremock.IsUUID(id) {
		return nil, noUUID(id)
	}
	if m := s.find(id); m != nil {
		return m, nil
	}
	return nil, errNoMapping
}

func noUUID(id string) error {
	return &failure{http.StatusBadRequest, 10, id + " is not a valid UUID", ""}
}

func (s *Stubs) serveMappings(c *inquiry) (any, error) {
	all := s.current().InOrder()
	list, err := paged(c, all)
	return listOf(list, len(all)), err
}

func (s *Stubs) serveMapping(c *inquiry) (any, error) {
	m, err := s.asked(c)
	if err != nil {
		return nil, err
	}
	return m.JSON(), nil
}

func (s *Stubs) serveAdd(c *inquiry) (any, error) {
	m, err := s.read(c.body, "")
	if err != nil {
		return nil, err
	}
	if s.find(m.ID()) != nil { // before its file is written
		return nil, errTaken(m.ID())
	}
	if err := s.keep(m, s.add); err != nil {
		return nil, err
	}
	return created{m.JSON()}, nil
}

func (s *Stubs) serveEdit(c *inquiry) (any, error) {
	before, err := s.asked(c)
	if err != nil {
		return nil, err
	}
	m, err := s.read(c.body, before.ID())
	if err != nil {
		return nil, err
	}
	if err := s.keep(m, s.edit); errors.Is(err, errUnknown) {
		return nil, errNoMapping
	} else if err != nil {
		return nil, err
	}
	was, _ := before.HasName()
	if is, _ := m.HasName(); was != is || !m.Persistent() {
		return m.JSON(), s.unsave(before)
	}
	return m.JSON(), nil
}

// keep puts a mapping in force, and saves it before if it says so.
func (s *Stubs) keep(m *wiremock.Mapping, put func(*wiremock.Mapping) error) error {
	if m.Persistent() {
		if err := s.save(m); err != nil {
			return &failure{http.StatusInternalServerError, 50, "the mapping cannot be saved", err.Error()}
		}
	}
	return put(m)
}

// serveRemove removes one mapping: that with the ID or, of a posted one whose ID is
// unknown, those with the same request.
func (s *Stubs) serveRemove(c *inquiry) (any, error) {
	var gone func(*wiremock.Mapping) bool
	if one, err := s.asked(c); err == nil {
		gone = func(m *wiremock.Mapping) bool { return m == one }
	} else if c.PathValue("id") != "" {
		return nil, err
	} else {
		request := requestOf(c.body)
		gone = func(m *wiremock.Mapping) bool {
			return request != nil && reflect.DeepEqual(requestOf(m.JSON()), request)
		}
	}
	_, err := s.drop(gone)
	return nothing, err
}

// requestOf returns what a mapping asks of requests.
func requestOf(mapping []byte) any {
	var one struct {
		Request any `json:"request"`
	}
	_ = json.Unmarshal(mapping, &one)
	return one.Request
}

// drop removes mappings and the files in which they were saved.
func (s *Stubs) drop(gone func(*wiremock.Mapping) bool) ([]*wiremock.Mapping, error) {
	removed, err := s.remove(gone)
	for _, m := range removed {
		err = errors.Join(err, s.unsave(m))
	}
	return removed, err
}

func (s *Stubs) serveRemoveAll(*inquiry) (any, error) {
	_, err := s.remove(func(*wiremock.Mapping) bool { return true })
	return nothing, err
}

func (s *Stubs) serveReset(*inquiry) (any, error) {
	s.journal.remove(s.journal.all())
	return nothing, s.Reset()
}

func (s *Stubs) serveSave(*inquiry) (any, error) {
	for _, m := range s.mappings() {
		if m.File() != added { // what was read from files is in files
			continue
		}
		if err := s.save(m); err != nil {
			return nil, &failure{http.StatusInternalServerError, 50, "the mappings cannot be saved", err.Error()}
		}
	}
	return nothing, nil
}

func (s *Stubs) serveImport(c *inquiry) (any, error) {
	var b batch
	if err := c.into(&b); err != nil {
		return nil, err
	}
	return nothing, s.load(b)
}

func (s *Stubs) serveFindByMetadata(c *inquiry) (any, error) {
	list, err := s.withMetadata(c)
	return listOf(list, len(list)), err
}

// withMetadata returns the mappings whose metadata meet the condition in the body.
func (s *Stubs) withMetadata(c *inquiry) ([]*wiremock.Mapping, error) {
	has, err := s.onMetadata(c.body)
	if err != nil {
		return nil, err
	}
	return among(c.search(), s.current().InOrder(), has)
}

func (s *Stubs) listOfThose(is func(*wiremock.Mapping) bool) listing {
	var list []*wiremock.Mapping
	for _, m := range s.current().InOrder() {
		if is(m) {
			list = append(list, m)
		}
	}
	return listOf(list, len(list))
}

func (s *Stubs) serveRemoveByMetadata(c *inquiry) (any, error) {
	list, err := s.withMetadata(c)
	if err != nil {
		return nil, err
	}
	gone := make(map[*wiremock.Mapping]bool, len(list))
	for _, m := range list {
		gone[m] = true
	}
	_, err = s.drop(func(m *wiremock.Mapping) bool { return gone[m] })
	return nothing, err
}

// unused returns what reports whether no request of the journal was answered by a
// mapping.
func (s *Stubs) unused() func(*wiremock.Mapping) bool {
	used := make(map[string]bool)
	for _, e := range s.journal.all() {
		if e.mapping != nil {
			used[e.mapping.ID()] = true
		}
	}
	return func(m *wiremock.Mapping) bool { return !used[m.ID()] }
}

func (s *Stubs) serveUnused(*inquiry) (any, error) { return s.listOfThose(s.unused()), nil }

func (s *Stubs) serveRemoveUnused(*inquiry) (any, error) {
	_, err := s.drop(s.unused())
	return nothing, err
}

// scenarioOf is a scenario as the API lists it.
type scenarioOf struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	State    string            `json:"state"`
	Possible []string          `json:"possibleStates"`
	Mappings []json.RawMessage `json:"mappings"`
}

func (s *Stubs) serveScenarios(*inquiry) (any, error) {
	return listing{name: "scenarios", elements: each(s.current().Scenarios(), func(one wiremock.Scenario) any {
		shown := scenarioOf{one.Name, one.Name, one.State, one.Possible, make([]json.RawMessage, len(one.Mappings))}
		for i, m := range one.Mappings {
			shown.Mappings[i] = m.JSON()
		}
		return shown
	})}, nil
}

func (s *Stubs) serveResetScenarios(*inquiry) (any, error) {
	s.current()
	s.states.Reset()
	return nothing, nil
}

func (s *Stubs) serveSetState(c *inquiry) (any, error) {
	var asked struct {
		State string `json:"state"`
	}
	if len(c.body) > 0 {
		if err := c.into(&asked); err != nil {
			return nil, err
		}
	}
	err := s.current().SetState(c.PathValue("name"), asked.State)
	if _, none := errors.AsType[*wiremock.NoScenarioError](err); none {
		return nil, notFound(err.Error())
	}
	if err != nil {
		return nil, &failure{http.StatusUnprocessableEntity, 11, err.Error(), ""}
	}
	return nothing, nil
}
