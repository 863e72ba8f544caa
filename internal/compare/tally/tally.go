// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package tally counts the differences of many pairs of responses and decides
// which of them mean anything: noise is measured, not guessed.
package tally

import (
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/endpoint"
)

// Options are how a Tally counts.
type Options struct {
	// Noise means that every pair has Noise. One without is not counted then
	// but as Partial: it would look quieter than it is.
	Noise bool
	// Live is for counts that are read while they grow and are never asked
	// again: a field is looked at when its count has doubled.
	Live bool
	// ConfirmAll lets requests of every method be asked again, not only safe
	// ones.
	ConfirmAll bool
}

// Pair is one request and what was found of its responses.
type Pair struct {
	ID                   string // of the record
	Method, Target, Body []byte
	Header               []byte // lines, as in compare.Response
	Old, New             *compare.Response
	// Diff is what differs between old and new.
	Diff *compare.Result
	// Noise is what differs between the two responses of one system to this
	// request; nil if noise is not measured.
	Noise *compare.Result
	// NoiseOfNew is set where that system is the new one, as where old is a recorded
	// response. Its times and tokens are those of another day then: they count
	// as equal as they do without Noise.
	NoiseOfNew bool
}

// Tally counts the pairs of one old and one new system. Its memory is bounded
// whatever it counts. It may be used by many goroutines.
type Tally struct {
	mu       sync.Mutex
	options  Options
	state    state
	requests requests
	fields   int // of all endpoints
	marks    []mark
	reader   *compare.Comparer // of request bodies
}

// state is what is written and merged.
type state struct {
	Pairs     int64                 `json:"pairs"`
	Unequal   int64                 `json:"unequal"` // dropped by require_equal
	Ignored   int64                 `json:"ignored"`
	Partial   map[string]int64      `json:"partial"`
	LeftOut   LeftOut               `json:"left_out"`
	Asked     int64                 `json:"asked"`            // requests that were asked in rounds
	Beside    int64                 `json:"beside,omitempty"` // those of other Tallies of the run
	Endpoints map[string]*endpoints `json:"endpoints"`
	Latency   latency               `json:"latency"`
}

// LeftOut counts what limits kept out of the counts.
type LeftOut struct {
	Endpoints   int64 `json:"endpoints"`   // pairs that were counted as (others)
	Differences int64 `json:"differences"` // differences of fields beyond the limit
	Collapsed   int64 `json:"collapsed"`   // fields whose names turned out to vary like values
}

// endpoints are the counts of one endpoint.
type endpoints struct {
	Requests   int64             `json:"requests"`
	Pairs      int64             `json:"pairs"`
	Fields     map[string]*field `json:"fields"`
	Collapsed  map[string]int64  `json:"collapsed,omitempty"` // places whose names are one, and the requests before
	Properties properties        `json:"properties"`

	children map[string]map[string]bool // names by place
	alias    map[string]*field          // collapsed names
}

// field counts one field: over the requests, how often new differs from old
// (A), how often old′ does (S), one of them alone (B: new; C: old′).
type field struct {
	From      int64                  `json:"from"` // requests of the endpoint before it
	A         int64                  `json:"a"`
	S         int64                  `json:"s"`
	B         int64                  `json:"b"`
	C         int64                  `json:"c"`
	Generated generated              `json:"generated"`
	Kinds     map[compare.Kind]int64 `json:"kinds"`
	Example   Example                `json:"example"`
	Looks     int                    `json:"looks,omitempty"`
	Adjusted  float64                `json:"adjusted,omitempty"` // least P of the looks, times π²k²/6
	Again     []candidate            `json:"again,omitempty"`
	Asked     map[string]*Rounds     `json:"asked,omitempty"` // by ID
	Where     where                  `json:"where"`
}

// Example is one pair in which a field differed.
type Example struct {
	ID    string `json:"id"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Alone bool   `json:"alone"` // old′ did not differ
}

// mark is what one pair has at a field.
type mark struct {
	field     *field
	diff      *compare.Difference
	noise     bool
	alone     bool // it counts for what explains the field
	generated compare.Generated
}

const (
	maxEndpoints = 100
	maxFields    = 2000 // of all endpoints
	maxOwnFields = 200  // of one
	others       = "(others)"
)

// NoTwin is the reason for which a pair without old′ was not counted.
const NoTwin = "no_twin"

// New returns an empty Tally.
func New(o Options) *Tally { return &Tally{options: o, state: newState()} }

func newState() state {
	return state{Partial: make(map[string]int64), Endpoints: make(map[string]*endpoints), Latency: newLatency()}
}

// Add counts a pair. Nothing of it is kept.
func (t *Tally) Add(p *Pair) {
	name := endpoint.AppendName(make([]byte, 0, 128), p.Method, p.Target, p.Body)
	key := xxhash.Sum64(p.Method) ^ xxhash.Sum64(p.Target)*3 ^ xxhash.Sum64(p.Body)*5
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.state
	if p.Diff.Unequal || p.Noise != nil && p.Noise.Unequal {
		s.Unequal++
		return
	}
	if t.options.Noise && p.Noise == nil {
		s.Partial[NoTwin]++
		return
	}
	s.Pairs++
	s.Ignored += int64(p.Diff.Ignored)
	if p.Diff.Partial != "" {
		s.Partial[p.Diff.Partial]++
	}
	if p.Old.Error == "" && p.New.Error == "" {
		s.Latency.add(p.Old.Duration, p.New.Duration)
	}
	e := t.endpoint(name)
	e.Pairs++
	r, fresh := t.requests.of(key)
	if fresh {
		e.Requests++
	}
	marks := t.mark(e, p)
	r.count(marks)
	t.describe(e, p, key, marks, fresh)
}

// Skip counts a pair that could not be compared, by its reason, as Partial.
func (t *Tally) Skip(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Partial[reason]++
}

func (t *Tally) endpoint(name []byte) *endpoints {
	e := t.state.Endpoints[string(name)]
	if e == nil && len(t.state.Endpoints) >= maxEndpoints {
		t.state.LeftOut.Endpoints++
		name = []byte(others)
		e = t.state.Endpoints[others]
	}
	if e == nil {
		e = &endpoints{Fields: make(map[string]*field), Properties: newProperties()}
		t.state.Endpoints[string(name)] = e
	}
	return e
}

// mark finds the fields in which a pair differs, each once.
func (t *Tally) mark(e *endpoints, p *Pair) []mark {
	marks := t.marks[:0]
	for i := range p.Diff.Differences {
		d := &p.Diff.Differences[i]
		f := t.field(e, d.Field)
		if f == nil {
			continue
		}
		f.Kinds[d.Kind]++
		generated := d.Generated
		if p.Noise != nil && !p.NoiseOfNew {
			generated = compare.NotGenerated
		}
		if m := find(marks, f); m == nil {
			marks = append(marks, mark{field: f, diff: d, generated: generated})
		} else if generated == compare.NotGenerated {
			m.diff, m.generated = d, generated
		}
	}
	if p.Noise != nil {
		for i := range p.Noise.Differences {
			f := t.field(e, p.Noise.Differences[i].Field)
			if f == nil {
				continue
			}
			if m := find(marks, f); m != nil {
				m.noise = true
			} else {
				marks = append(marks, mark{field: f, noise: true})
			}
		}
	}
	t.marks = marks
	return marks
}

func find(marks []mark, f *field) *mark {
	for i := range marks {
		if marks[i].field == f {
			return &marks[i]
		}
	}
	return nil
}

// describe keeps what explains the marks: values, examples, requests to ask
// again, properties.
func (t *Tally) describe(e *endpoints, p *Pair, key uint64, marks []mark, fresh bool) {
	for i := range marks {
		m := &marks[i]
		f := m.field
		if m.diff != nil {
			alone := !m.noise
			if f.Example.ID == "" && f.Example.Old == "" || alone && !f.Example.Alone {
				f.Example = Example{ID: p.ID, Old: compare.Short(m.diff.Old), New: compare.Short(m.diff.New), Alone: alone}
			}
			if m.generated != compare.NotGenerated {
				f.Generated.see(m.diff, m.generated)
			}
			if alone && t.options.Noise && p.ID != "" && (t.options.ConfirmAll || isSafe(p.Method)) && !t.options.Live {
				f.keep(candidate{Hash: key, ID: p.ID})
			}
		}
		if t.options.Live {
			f.look()
		}
	}
	if fresh {
		t.properties(e, p, key, marks)
	}
}

func isSafe(method []byte) bool {
	switch string(method) {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return true
	}
	return false
}
