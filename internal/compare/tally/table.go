// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

// falseRate is the share of false ones among the proved fields.
const falseRate = 0.01

// Class is what a field's differences mean.
type Class string

// Classes, those that count first.
const (
	Proved      Class = "proved"      // over all pairs, new differs more often than the old system from itself
	Confirmed   Class = "confirmed"   // asked again and again, one request differs
	Differs     Class = "differs"     // it differs, and noise was not measured
	Unconfirmed Class = "unconfirmed" // it differs too seldom to say, and the old system never differed from itself
	Noise       Class = "noise"       // the old system differs from itself as well
)

var order = []Class{Proved, Confirmed, Differs, Unconfirmed, Noise}

// Counts reports whether the class counts into `diffs`.
func (c Class) Counts() bool { return c == Proved || c == Confirmed || c == Differs }

// Row is a field with differences.
type Row struct {
	Endpoint  string       `json:"endpoint"`
	Field     string       `json:"field"`
	Class     Class        `json:"class"`
	Kind      compare.Kind `json:"kind"`
	Requests  int64        `json:"requests"`  // different requests of the endpoint
	Differing int64        `json:"differing"` // of them, those in which new differs
	Noisy     int64        `json:"noisy"`     // those in which old′ differs
	Share     float64      `json:"share"`     // of the requests that differ, 0 to 1
	ShareLow  float64      `json:"share_low"` // its 95 % interval
	ShareHigh float64      `json:"share_high"`
	Old       string       `json:"old"` // one pair's values, short
	New       string       `json:"new"`
	ID        string       `json:"id"`                   // of that pair's record
	OnlyWhere string       `json:"only_where,omitempty"` // the property of requests that separates them
	Again     *Rounds      `json:"again,omitempty"`      // of the request that was asked again, if one was
}

// Table is all that was found.
type Table struct {
	Pairs         int64            `json:"pairs"`
	Requests      int64            `json:"requests"`       // different ones
	NoiseMeasured bool             `json:"noise_measured"` // one system answered every request twice
	Unequal       int64            `json:"unequal"`        // pairs dropped by require_equal
	Ignored       int64            `json:"ignored"`        // differences dropped by rules
	Partial       map[string]int64 `json:"partial"`        // pairs not compared in full, or not at all, by reason
	LeftOut       LeftOut          `json:"left_out"`
	Asked         int64            `json:"asked"` // requests asked again in rounds
	Rows          []Row            `json:"fields,omitzero"`
	Latency       Shift            `json:"latency"`
}

// Diffs returns how many fields are proved, confirmed or differ.
func (t *Table) Diffs() int { return t.count(Class.Counts) }

// Unconfirmed returns how many fields are unconfirmed.
func (t *Table) Unconfirmed() int { return t.count(func(c Class) bool { return c == Unconfirmed }) }

func (t *Table) count(counts func(Class) bool) (n int) {
	for i := range t.Rows {
		if counts(t.Rows[i].Class) {
			n++
		}
	}
	return n
}

// Table returns what was found so far, the fields that count first.
func (t *Tally) Table() *Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.state
	table := &Table{
		Pairs: s.Pairs, NoiseMeasured: t.options.Noise, Unequal: s.Unequal, Ignored: s.Ignored, Partial: maps.Clone(s.Partial),
		LeftOut: s.LeftOut, Asked: s.Asked, Rows: []Row{}, Latency: s.Latency.shift(),
	}
	limit := t.accepted()
	for _, name := range slices.Sorted(maps.Keys(s.Endpoints)) {
		e := s.Endpoints[name]
		table.Requests += e.Requests
		for field, f := range e.Fields {
			if class := t.class(f, limit); class != "" {
				table.Rows = append(table.Rows, e.row(name, field, f, class))
			}
		}
	}
	slices.SortFunc(table.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Class), slices.Index(order, b.Class)),
			cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Field, b.Field))
	})
	return table
}

func (e *endpoints) row(name, path string, f *field, class Class) Row {
	n := max(1, e.Requests-f.From)
	a := min(n, f.differing(class))
	row := Row{
		Endpoint: name, Field: path, Class: class, Kind: f.kind(), Requests: n, Differing: a, Noisy: min(n, f.S),
		Share: float64(a) / float64(n), Old: f.Example.Old, New: f.Example.New, ID: f.Example.ID,
	}
	row.ShareLow, row.ShareHigh = shareBounds(a, n)
	if class.Counts() {
		row.OnlyWhere = e.explain(f)
	}
	if id, _ := f.best(); id != "" {
		row.Again = f.Asked[id]
		if class == Confirmed {
			row.ID, row.Old, row.New = id, row.Again.OldValue, row.Again.NewValue
		}
	}
	return row
}

func (f *field) kind() compare.Kind {
	var most compare.Kind
	for kind, n := range f.Kinds {
		if n > f.Kinds[most] || n == f.Kinds[most] && kind < most {
			most = kind
		}
	}
	return most
}

// differing returns in how many requests new differs; without noise, those do not
// count whose values are certainly made anew each time.
func (f *field) differing(class Class) int64 {
	if class == Differs && f.Generated.certain() {
		return f.A - f.Generated.Requests
	}
	return f.A
}

// class returns what the field's differences mean, "" if it has none.
func (t *Tally) class(f *field, limit float64) Class {
	switch {
	case !t.options.Noise && f.differing(Differs) > 0:
		return Differs
	case !t.options.Noise || f.A == 0 && f.S == 0:
		return ""
	case f.proved(t.options.Live, limit):
		return Proved
	}
	if _, p := f.best(); p <= t.state.sure() {
		return Confirmed
	}
	switch {
	case f.S > 0:
		return Noise
	case f.alone() == 0:
		return ""
	}
	return Unconfirmed
}

// proved reports whether the field's test is within the limit of accepted.
func (f *field) proved(live bool, limit float64) bool {
	p, able := f.test(live)
	return able && p <= limit
}

// test returns how probable the field's counts are if new is like a second
// old, and whether there are enough of them to prove anything.
func (f *field) test(live bool) (p float64, able bool) {
	if live {
		return f.Adjusted, f.Looks > 0
	}
	n := f.alone() + f.C
	return signTest(f.alone(), n), math.Exp2(-float64(n)) <= falseRate
}

// accepted returns the greatest probability that proves a field, among all
// that could be.
func (t *Tally) accepted() float64 {
	var ps []float64
	for _, e := range t.state.Endpoints {
		for _, f := range e.Fields {
			if p, able := f.test(t.options.Live); able {
				ps = append(ps, p)
			}
		}
	}
	return discoveries(ps, falseRate)
}

// matches reports whether a collapsed path stands for another.
func matches(collapsed, path string) bool {
	if !strings.Contains(collapsed, "[*]") || !strings.HasPrefix(path, "$") {
		return false
	}
	a, err := jsonpath.Parse(collapsed)
	if err != nil {
		return false
	}
	b, err := jsonpath.Parse(path)
	return err == nil && slices.EqualFunc(a, b, func(x, y jsonpath.Step) bool { return x.Any || x == y })
}
