// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// phase is one stage from its begin to its end, and what it has to remember of
// its requests. With the phase that is forgotten.
type phase struct {
	order  int64 // later phases have larger ones
	number int   // of the stage; 0 is before the first one
	steps  []*step

	seeded bool
	seed   uint64
	chosen []atomic.Uint64 // how often each outcome was, if seeded; the last one is for none
}

// none is chosen where no outcome is for a request: it gets a plain 200.
const none = -1

// step is what is tried to choose an outcome: a first, a draw among outcomes
// with shares that stand side by side, or the rest.
type step struct {
	outcome int      // the only or the first one of the step
	first   *counter // nil unless it is a first
	shares  []uint64 // for each outcome, 63 random bits below which it is chosen or one before it
	drawn   atomic.Uint64
}

// phaseAt returns the phase at a moment. A request that decides late, when
// another has already seen the next phase begin, belongs to that.
func (r *route) phaseAt(now time.Time) *phase {
	number, lap := r.timeline.stage(now)
	order := lap*int64(len(r.recipe.Stages)+1) + int64(number)
	current := r.phase.Load()
	for current == nil || current.order < order {
		next := r.newPhase(order, number)
		if r.phase.CompareAndSwap(current, next) {
			return next
		}
		current = r.phase.Load()
	}
	return current
}

func (r *route) newPhase(order int64, number int) *phase {
	p := &phase{order: order, number: number, seeded: r.seeded}
	var outcomes []recipe.Outcome
	if number > 0 {
		outcomes = r.recipe.Stages[number-1].Outcomes
	}
	p.steps = newSteps(outcomes, r.counts.forgot)
	if r.seeded {
		draws := latency.DrawsOf(r.seed, uint64(order))
		p.seed = draws.Uint64()
		p.chosen = make([]atomic.Uint64, len(outcomes)+1)
	}
	return p
}

// newSteps puts the outcomes of a stage together to steps.
func newSteps(outcomes []recipe.Outcome, forgot func()) []*step {
	var steps []*step
	before := 0.0 // the shares of the steps before
	for i := 0; i < len(outcomes); i++ {
		switch o := &outcomes[i]; {
		case o.First != nil:
			steps = append(steps, &step{outcome: i, first: newCounter(o.First, forgot)})
		case o.Percent != nil:
			s := &step{outcome: i}
			sum := 0.0
			for ; i < len(outcomes) && outcomes[i].Percent != nil; i++ {
				sum += float64(*outcomes[i].Percent)
				s.shares = append(s.shares, below(sum, 100-before))
			}
			before += sum
			i--
			steps = append(steps, s)
		default:
			steps = append(steps, &step{outcome: i})
		}
	}
	return steps
}

// below returns the number below which as large a share of all that 63 bits can
// be is as a part is of the whole.
func below(part, whole float64) uint64 {
	const all = 1 << 63
	switch {
	case part <= 0:
		return 0
	case part >= whole:
		return all
	}
	return uint64(part / whole * all)
}

// choose returns which of the stage's outcomes is for a request.
func (p *phase) choose(req Request) int {
	for i, s := range p.steps {
		switch {
		case s.first != nil:
			if s.first.takes(req) {
				return s.outcome
			}
		case s.shares != nil:
			var draws latency.Draws
			if p.seeded {
				draws = latency.DrawsOf(p.seed+uint64(i+1)<<48, s.drawn.Add(1))
			}
			drawn := draws.Uint64() >> 1
			for j, share := range s.shares {
				if drawn < share {
					return s.outcome + j
				}
			}
		default:
			return s.outcome
		}
	}
	return none
}

// drawsOf returns what the response to a request is drawn from. That of seeds is
// the same for every request of an outcome by their order, whichever of them
// comes first.
func (p *phase) drawsOf(outcome int) latency.Draws {
	if !p.seeded {
		return latency.Draws{}
	}
	if outcome == none {
		outcome = len(p.chosen) - 1
	}
	return latency.DrawsOf(p.seed+uint64(outcome)<<32, p.chosen[outcome].Add(1))
}
