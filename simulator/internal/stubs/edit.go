// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// mostMappings and mostMemory bound how many mappings may be in force once some are
// added, and about how many bytes they take.
const (
	mostMappings = 100_000
	mostMemory   = 512 << 20
)

var errTooMany = fmt.Errorf("there may be %d mappings that take %d MiB of memory", mostMappings, mostMemory>>20)

// tooMany reports whether there are more mappings, or larger ones, than may be.
func tooMany(list []*wiremock.Mapping, size int64) bool {
	return len(list) > mostMappings || size > mostMemory
}

func sizeOf(list []*wiremock.Mapping) (size int64) {
	for _, m := range list {
		size += m.Size()
	}
	return size
}

// errUnknown is that of an ID that no mapping has.
var errUnknown = errors.New("there is no mapping with this ID")

// mappings returns those in force, in the order in which they were added.
func (s *Stubs) mappings() []*wiremock.Mapping { return s.current().Mappings() }

// find returns the mapping with an ID; nil if there is none.
func (s *Stubs) find(id string) *wiremock.Mapping {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[strings.ToLower(id)]
}

// read compiles the JSON of one mapping; if it has no ID it gets one.
func (s *Stubs) read(data []byte, id string) (*wiremock.Mapping, error) {
	if err := units.CheckJSON(data); err != nil {
		return nil, err
	}
	if id == "" {
		if id = wiremock.IDOf(data); id != "" && !wiremock.IsUUID(id) {
			return nil, fmt.Errorf("id: '%s' is not a valid UUID: no client would find the mapping by it", id)
		}
	}
	if id == "" {
		id = newID()
	}
	data, err := wiremock.WithID(data, id)
	if err != nil {
		return nil, err
	}
	loader := s.options.Loader
	loader.Skip = nil
	list, err := loader.Parse(data, added, s.options.Files)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// added is the file that mappings are from which were added while the server runs.
const added = "the admin API"

var errRetired = errors.New("the configuration has changed meanwhile")

// change puts another list of mappings in force, made of a copy of the one that is.
func (s *Stubs) change(how func(list []*wiremock.Mapping) ([]*wiremock.Mapping, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed(how)
}

// changed is change for callers that hold the lock.
func (s *Stubs) changed(how func(list []*wiremock.Mapping) ([]*wiremock.Mapping, error)) error {
	if s.retired {
		return errRetired
	}
	list, err := how(slices.Clone(s.list))
	if size := sizeOf(list); err == nil && size > s.size && tooMany(list, size) {
		err = errTooMany
	}
	if err == nil {
		s.replace(list)
	}
	return err
}

// errTaken is that of a mapping whose ID another one has.
func errTaken(id string) error {
	return &failure{http.StatusUnprocessableEntity, 109, "Duplicate stub mapping ID", "ID of the provided stub mapping '" + id + "' is already taken by another stub mapping"}
}

// add puts a mapping in force, before all of the same priority.
func (s *Stubs) add(m *wiremock.Mapping) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[m.ID()] != nil {
		return errTaken(m.ID())
	}
	if s.retired {
		return errRetired
	}
	if tooMany(s.list, s.size+m.Size()) {
		return errTooMany
	}
	s.list = append(s.list, m)
	s.size += m.Size()
	s.byID[m.ID()] = m
	s.known[m] = know(m, s.options.Scenario)
	s.table.Store(nil)
	return nil
}

// edit puts a mapping in the place of the one with its ID.
func (s *Stubs) edit(m *wiremock.Mapping) error {
	return s.change(func(list []*wiremock.Mapping) ([]*wiremock.Mapping, error) {
		i := slices.IndexFunc(list, func(other *wiremock.Mapping) bool { return other.ID() == m.ID() })
		if i < 0 {
			return nil, errUnknown
		}
		list[i] = m
		return list, nil
	})
}

// remove takes mappings out, and returns which.
func (s *Stubs) remove(gone func(*wiremock.Mapping) bool) (removed []*wiremock.Mapping, err error) {
	err = s.change(func(list []*wiremock.Mapping) ([]*wiremock.Mapping, error) {
		return slices.DeleteFunc(list, func(m *wiremock.Mapping) bool {
			is := gone(m)
			if is {
				removed = append(removed, m)
			}
			return is
		}), nil
	})
	return removed, err
}

// Reset puts the mappings of the configuration in force, with scenarios that
// begin.
func (s *Stubs) Reset() error {
	err := s.change(func([]*wiremock.Mapping) ([]*wiremock.Mapping, error) { return slices.Clone(s.configured), nil })
	s.current()
	s.states.Reset()
	return err
}

// batch is a list of mappings to be added, as WireMock's clients send it.
type batch struct {
	Mappings []json.RawMessage `json:"mappings"`
	Options  struct {
		Duplicates string `json:"duplicatePolicy"`
		Replace    bool   `json:"deleteAllNotInImport"`
	} `json:"importOptions"`
}

// load adds a list of mappings, all or none. The first of it is then the first in
// force.
func (s *Stubs) load(b batch) error {
	read := make([]*wiremock.Mapping, len(b.Mappings))
	in := make(map[string]bool, len(read))
	for i, data := range b.Mappings {
		m, err := s.read(data, "")
		if err != nil {
			return fmt.Errorf("mappings[%d]: %w", i, err)
		}
		read[i], in[m.ID()] = m, true
	}
	err := s.change(func(list []*wiremock.Mapping) ([]*wiremock.Mapping, error) {
		if b.Options.Replace {
			list = slices.DeleteFunc(list, func(m *wiremock.Mapping) bool { return !in[m.ID()] })
		}
		at := make(map[string]int, len(list))
		for i, m := range list {
			at[m.ID()] = i
		}
		for _, m := range slices.Backward(read) {
			i, known := at[m.ID()]
			switch {
			case !known:
				list = append(list, m)
			case b.Options.Duplicates != "IGNORE":
				list[i] = m
			}
		}
		return list, nil
	})
	if err != nil {
		return err
	}
	for _, m := range read {
		if m.Persistent() {
			if err := s.save(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// save writes a mapping into a file of its own in the folder `mappings` of the
// root, or in the root itself if it has no such folder.
func (s *Stubs) save(m *wiremock.Mapping) error {
	if s.options.Root == "" {
		return errors.New("mappings cannot be saved: the option mappings names no directory")
	}
	root, name, err := s.place(m)
	if err != nil {
		return err
	}
	defer root.Close()
	var indented bytes.Buffer
	if err := json.Indent(&indented, m.JSON(), "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	return root.WriteFile(name, indented.Bytes(), 0o644)
}

// unsave removes the file in which a mapping was saved, if it was.
func (s *Stubs) unsave(m *wiremock.Mapping) error {
	if s.options.Root == "" || !m.Persistent() {
		return nil
	}
	root, name, err := s.place(m)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// place returns where a mapping is saved.
func (s *Stubs) place(m *wiremock.Mapping) (root *os.Root, name string, err error) {
	if root, err = os.OpenRoot(s.options.Root); err != nil {
		return nil, "", err
	}
	name = m.ID() + ".json"
	if own, ok := m.HasName(); ok {
		name = fileName(own) + "-" + name
	}
	if info, err := root.Stat("mappings"); err == nil && info.IsDir() {
		name = filepath.Join("mappings", name)
	}
	return root, name, nil
}

// fileName returns what of a mapping's name can be that of a file.
func fileName(name string) string {
	const longest = 100
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '-'
	}, name)
	return strings.ToLower(name[:min(len(name), longest)])
}
