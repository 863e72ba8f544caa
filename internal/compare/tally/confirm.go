// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
)

const (
	mostAgain   = 64 // requests of a field that are asked twice more
	mostRounds  = 8  // of them that are asked in rounds
	firstRounds = 2
	rounds      = 16
	sureOf      = 0.005 // shared among all requests asked in rounds
	nearlySure  = 0.001 // worth as many rounds more
)

// candidate is a request in which new differed and old′ did not.
type candidate struct {
	Hash uint64 `json:"hash"`
	ID   string `json:"id"`
}

// keep keeps a request to be asked again: those of the lowest hashes, which is
// a sample, whatever the order in which they come.
func (f *field) keep(c candidate) {
	i, known := slices.BinarySearchFunc(f.Again, c, func(a, b candidate) int { return cmp.Compare(a.Hash, b.Hash) })
	if known || i == mostAgain {
		return
	}
	f.Again = slices.Insert(f.Again, i, c)
	f.Again = f.Again[:min(len(f.Again), mostAgain)]
}

// Rounds counts what a request that was asked again had in a field: how often
// new, and old′, differed from old.
type Rounds struct {
	Rounds int64 `json:"rounds"`
	New    int64 `json:"new"`
	Twin   int64 `json:"twin"`
	// The values, short, of the last round in which new differed.
	OldValue string `json:"old_value"`
	NewValue string `json:"new_value"`
}

func (r *Rounds) p() float64 { return fisher(r.New, r.Rounds, r.Twin, r.Rounds) }

// System is who is asked.
type System byte

// Systems of a round.
const (
	Old System = iota
	NewSystem
	Twin // old′: the old system once more, or its twin
)

// Ask is a request to send again.
type Ask struct {
	ID     string
	Rounds int
	twin   bool
	seed   uint64
}

// Order returns who is asked one after the other in a round.
func (a Ask) Order(round int) []System {
	order := []System{Old, NewSystem}
	if a.twin {
		order = append(order, Twin)
	}
	random := rand.New(rand.NewPCG(a.seed, uint64(round)))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// Confirmation asks requests again whose differences may be noise. The caller
// sends what Next returns and Records every round, until Next returns nothing.
type Confirmation struct {
	t     *Tally
	seed  uint64
	phase int
	asked map[string]map[*field]string // fields by request and name
	again map[*field]map[string]int64  // how often each differed when it was asked twice more
}

// Confirm begins to ask the requests again of fields that are not proved.
func (t *Tally) Confirm(seed uint64) *Confirmation { return &Confirmation{t: t, seed: seed} }

// Next returns the requests to send next, in the order of their IDs.
func (c *Confirmation) Next() []Ask {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.phase++
	switch c.phase {
	case 1:
		return c.twiceMore()
	case 2:
		return c.inRounds()
	case 3:
		return c.roundsMore()
	}
	return nil
}

// Record counts one round of a request: what differs between new and old, and
// between old′ and old, which is nil where old′ was not asked.
func (c *Confirmation) Record(id string, diff, noise *compare.Result) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	for f, name := range c.asked[id] {
		d := difference(diff, name)
		if c.phase == 1 {
			if d != nil {
				c.again[f][id]++
			}
			continue
		}
		r := f.Asked[id]
		if noise == nil || r == nil {
			continue
		}
		r.Rounds++
		if d != nil {
			r.New++
			r.OldValue, r.NewValue = compare.Short(d.Old), compare.Short(d.New)
		}
		if difference(noise, name) != nil {
			r.Twin++
		}
	}
}

// difference returns what a result has at a field, nil if nothing.
func difference(r *compare.Result, name string) *compare.Difference {
	i := slices.IndexFunc(r.Differences, func(d compare.Difference) bool { return d.Field == name || matches(name, d.Field) })
	if i < 0 {
		return nil
	}
	return &r.Differences[i]
}

// AskedBeside adds requests that were asked in rounds for other Tallies of the
// run: the more are asked, the surer each has to be.
func (t *Tally) AskedBeside(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Beside += n
}

// sure returns how improbable by chance the rounds of one request must be.
func (s *state) sure() float64 { return sureOf / float64(max(1, s.Asked+s.Beside)) }

func (c *Confirmation) twiceMore() []Ask {
	c.asked, c.again = make(map[string]map[*field]string), make(map[*field]map[string]int64)
	limit := c.t.accepted()
	for _, e := range c.t.state.Endpoints {
		for name, f := range e.Fields {
			if f.alone() == 0 || f.proved(c.t.options.Live, limit) {
				continue
			}
			c.again[f] = make(map[string]int64)
			for _, again := range f.Again {
				c.ask(again.ID, f, name)
			}
		}
	}
	return c.asks(firstRounds, false)
}

func (c *Confirmation) inRounds() []Ask {
	before := c.asked
	c.asked = make(map[string]map[*field]string)
	for f, times := range c.again {
		left := mostRounds
		for _, again := range f.Again {
			if left > 0 && times[again.ID] == firstRounds {
				left--
				c.ask(again.ID, f, before[again.ID][f])
				if f.Asked == nil {
					f.Asked = make(map[string]*Rounds)
				}
				f.Asked[again.ID] = &Rounds{}
			}
		}
	}
	c.t.state.Asked += int64(len(c.asked))
	return c.asks(rounds, true)
}

func (c *Confirmation) roundsMore() []Ask {
	before := c.asked
	c.asked = make(map[string]map[*field]string)
	for f := range c.again {
		id, p := f.best()
		if p > c.t.state.sure() && p <= nearlySure {
			c.ask(id, f, before[id][f])
		}
	}
	return c.asks(rounds, true)
}

func (c *Confirmation) ask(id string, f *field, name string) {
	if c.asked[id] == nil {
		c.asked[id] = make(map[*field]string)
	}
	c.asked[id][f] = name
}

func (c *Confirmation) asks(rounds int, twin bool) []Ask {
	asks := make([]Ask, 0, len(c.asked))
	for _, id := range slices.Sorted(maps.Keys(c.asked)) {
		h := fnv.New64a()
		h.Write([]byte(id))
		asks = append(asks, Ask{ID: id, Rounds: rounds, twin: twin, seed: c.seed ^ h.Sum64() + uint64(c.phase)})
	}
	return asks
}

// best returns the request whose rounds say most, and how probable they are by
// chance; 1 if none was asked.
func (f *field) best() (id string, p float64) {
	p = 1
	for _, other := range slices.Sorted(maps.Keys(f.Asked)) {
		if r := f.Asked[other]; r.Rounds > 0 && r.p() < p {
			id, p = other, r.p()
		}
	}
	return id, p
}
