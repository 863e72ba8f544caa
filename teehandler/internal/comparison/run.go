// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// run is what was counted since the beginning or the last reset.
type run struct {
	shared *shared
	since  time.Time

	mu     sync.Mutex
	closed bool
	counts []*counts // by shadow, in the order in which they came
	pools  map[string]*pairs.Pool
}

// counts are those of one shadow.
type counts struct {
	shadow   string
	tally    *tally.Tally
	examples examples
	log      fieldLog
	metrics  *shadowMetrics
}

func newRun(s *shared) *run {
	return &run{shared: s, since: time.Now(), pools: make(map[string]*pairs.Pool)}
}

// pool returns the pool of tees that have the same shadows.
func (r *run) pool(c *Comparison) *pairs.Pool {
	key := strings.Join(c.shadows, "\n") + "\n" + c.patience.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pools[key]
	if p != nil {
		return p
	}
	o := pairs.Options{Rules: r.shared.rules, Noise: r.shared.options.Noise != "", Timeout: c.patience, Memory: r.shared.memory}
	all := make([]*counts, 0, len(c.shadows))
	for _, shadow := range c.shadows {
		n := r.of(shadow)
		all = append(all, n)
		o.Tallies = append(o.Tallies, n.tally)
	}
	saving := c.saving
	o.Compared = func(system int, p *tally.Pair) {
		real := all[system].compared(r.shared, p)
		if real && saving != nil {
			saving.save(system, p)
		}
	}
	o.Skipped = func(system int, reason string) {
		all[system].metrics.count(reason)
		if caddy.Exiting() {
			uncompared.Add(1)
		}
	}
	p = pairs.New(o)
	if r.closed {
		p.Close()
	}
	r.pools[key] = p
	return p
}

// of returns the counts of a shadow. It is called with the lock.
func (r *run) of(shadow string) *counts {
	for _, n := range r.counts {
		if n.shadow == shadow {
			return n
		}
	}
	n := &counts{
		shadow:  shadow,
		tally:   tally.New(tally.Options{Noise: r.shared.options.Noise != "", Live: true}),
		metrics: newShadowMetrics(r.shared.tee, shadow),
	}
	r.counts = append(r.counts, n)
	return n
}

// shadows returns the counts of all shadows.
func (r *run) shadows() []*counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*counts(nil), r.counts...)
}

// close returns when all that has its responses is compared. What lacks one, or
// comes later, is counted as not compared.
func (r *run) close() {
	r.mu.Lock()
	r.closed = true
	pools := slices.Collect(maps.Values(r.pools))
	r.mu.Unlock()
	var closing sync.WaitGroup
	for _, p := range pools {
		closing.Go(p.Close)
	}
	closing.Wait()
}

// idle reports whether no pair waits or is compared.
func (r *run) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pools {
		if !p.Idle() {
			return false
		}
	}
	return true
}

// compared counts a pair and has its observers called. It reports whether the
// pair differs in a field in which the old system does not differ from itself.
func (n *counts) compared(s *shared, p *tally.Pair) (real bool) {
	for i := range p.Diff.Differences {
		d := &p.Diff.Differences[i]
		n.metrics.differs(d.Kind)
		alone := !noisy(p, d.Field)
		n.examples.see(s, p, d.Field, alone)
		if alone {
			real = true
			n.log.say(s, n.shadow, p, d)
		}
	}
	switch {
	case p.Diff.Unequal || p.Noise != nil && p.Noise.Unequal:
		n.metrics.count(resultUnequal)
	case real:
		n.metrics.count(resultDifferent)
	case len(p.Diff.Differences) > 0:
		n.metrics.count(resultNoise)
	default:
		n.metrics.count(resultEqual)
	}
	return real
}

// noisy reports whether the old system differs from itself in a field.
func noisy(p *tally.Pair, field string) bool {
	if p.Noise == nil {
		return false
	}
	for i := range p.Noise.Differences {
		if p.Noise.Differences[i].Field == field {
			return true
		}
	}
	return false
}

// ended are runs that nobody looks at any more, as long as they have pairs that
// wait or are compared.
var ended struct {
	sync.Mutex
	runs []*run
}

// end makes the process wait for the pairs of a run when it exits.
func (r *run) end() {
	ended.Lock()
	defer ended.Unlock()
	ended.runs = append(slices.DeleteFunc(ended.runs, (*run).idle), r)
}

// uncompared counts the pairs that were not compared since Caddy began to exit:
// nobody may come to read the metrics that have them.
var uncompared atomic.Int64

// Finish returns when all pairs of comparisons that were released are compared
// and saved, or counted because they lack a response. It is called when Caddy
// exits, once no copy is on its way, and before recorders are closed. What it
// waits for is bounded by what a pool holds.
func Finish() {
	ended.Lock()
	defer ended.Unlock()
	var closing sync.WaitGroup
	for _, r := range ended.runs {
		closing.Go(r.close)
	}
	closing.Wait()
	if n := uncompared.Load(); n > 0 {
		caddy.Log().Named("http.handlers.tee").Warn("exiting: some pairs of responses were not compared", zap.Int64("pairs", n))
	}
}
