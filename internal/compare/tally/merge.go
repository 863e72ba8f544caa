// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// MarshalJSON writes the counts, for Merge. Which requests were seen is not
// written: what comes later counts as other requests.
func (t *Tally) MarshalJSON() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return json.Marshal(&t.state)
}

// UnmarshalJSON reads counts that MarshalJSON has written into an empty Tally.
func (t *Tally) UnmarshalJSON(data []byte) error {
	s := newState()
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("reading a comparison: %v", err)
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("reading a comparison: %v", err)
	}
	fields := 0
	for _, e := range s.Endpoints {
		fields += len(e.Fields)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state, t.fields, t.requests = s, fields, requests{}
	return nil
}

// check refuses a state that lacks what is always written: it may be read from
// a file that somebody else has made.
func (s *state) check() error {
	if s.Partial == nil || s.Endpoints == nil {
		return errors.New("it has no counts")
	}
	for name, e := range s.Endpoints {
		if e == nil || e.Fields == nil || e.Properties.Names == nil || e.Properties.Values == nil || hasNil(e.Properties.Values) {
			return fmt.Errorf("the endpoint '%s' has no counts", name)
		}
		for path, f := range e.Fields {
			if f == nil || f.Kinds == nil || (f.Generated.Old == nil) != (f.Generated.New == nil) || hasNil(f.Asked) || hasNil(f.Where.Values) {
				return fmt.Errorf("the field '%s' of '%s' has no counts", path, name)
			}
		}
	}
	return nil
}

// hasNil reports whether there is nothing behind one of the keys.
func hasNil[T any](m map[string]*T) bool {
	for _, value := range m {
		if value == nil {
			return true
		}
	}
	return false
}

// Merge adds the counts of another Tally, of the same systems and rules, which
// is not used any more. Every test is then made as of one run.
func (t *Tally) Merge(other *Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, o := &t.state, &other.state
	s.Pairs += o.Pairs
	s.Unequal += o.Unequal
	s.Ignored += o.Ignored
	s.Asked += o.Asked
	s.Beside += o.Beside
	for why, n := range o.Partial {
		s.Partial[why] += n
	}
	s.LeftOut.Endpoints += o.LeftOut.Endpoints
	s.LeftOut.Differences += o.LeftOut.Differences
	s.LeftOut.Collapsed += o.LeftOut.Collapsed
	s.Latency.merge(&o.Latency)
	for _, name := range slices.Sorted(maps.Keys(o.Endpoints)) {
		t.mergeEndpoint(t.endpoint([]byte(name)), o.Endpoints[name])
	}
}

func (t *Tally) mergeEndpoint(e, o *endpoints) {
	for _, place := range slices.Sorted(maps.Keys(o.Collapsed)) {
		if _, ok := e.Collapsed[place]; !ok {
			t.drop(e, place, e.children[place])
		}
	}
	before := e.Requests
	e.Requests += o.Requests
	e.Pairs += o.Pairs
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		f := t.field(e, name)
		if f == nil {
			continue
		}
		g := o.Fields[name]
		if g.From > 0 { // the requests before it have no counts of it
			f.From = min(f.From, before) + g.From
		}
		f.merge(g)
	}
	p, q := &e.Properties, &o.Properties
	for h := range 2 {
		p.Requests[h] += q.Requests[h]
	}
	for text, n := range q.Values {
		if m := p.Values[text]; m != nil {
			m[0] += n[0]
			m[1] += n[1]
		} else if len(p.Values) < maxNames*maxValues {
			p.Values[text] = n
		}
	}
	for name, n := range q.Names {
		p.Names[name] = max(p.Names[name], n)
	}
}

func (f *field) merge(o *field) {
	f.A += o.A
	f.S += o.S
	f.B += o.B
	f.C += o.C
	f.Looks = max(f.Looks, o.Looks)
	f.Adjusted = min(f.Adjusted, cmp.Or(o.Adjusted, 1))
	f.Generated.merge(&o.Generated)
	for kind, n := range o.Kinds {
		f.Kinds[kind] += n
	}
	if f.Example == (Example{}) || o.Example.Alone && !f.Example.Alone {
		f.Example = o.Example
	}
	for _, c := range o.Again {
		f.keep(c)
	}
	for id, r := range o.Asked {
		if f.Asked == nil {
			f.Asked = make(map[string]*Rounds)
		}
		f.Asked[id] = r
	}
	f.Where.merge(&o.Where)
}

func (g *generated) merge(o *generated) {
	if g.Old == nil {
		g.Old, g.New = make(hashes), make(hashes)
	}
	g.Requests += o.Requests
	g.Seen += o.Seen
	g.Moments += o.Moments
	maps.Copy(g.Old, o.Old)
	maps.Copy(g.New, o.New)
}

func (w *where) merge(o *where) {
	for h := range 2 {
		w.Alone[h] += o.Alone[h]
		w.Sampled[h] += o.Sampled[h]
	}
	for text, c := range o.Values {
		m := w.Values[text]
		if m == nil {
			if w.Values == nil {
				w.Values = make(map[string]*cell)
			}
			w.Values[text] = c
			continue
		}
		for h := range 2 {
			m.Alone[h] += c.Alone[h]
			m.Sampled[h] += c.Sampled[h]
		}
	}
}
