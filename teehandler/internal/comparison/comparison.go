// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/lifecycle"
)

// comparisons are those that run, by identity. They outlive a configuration as
// long as the next one has them too.
var comparisons = caddy.NewUsagePool()

// identity is what a comparison is known by across configurations.
type identity struct{ tee, options string }

// names are the ones that a configuration uses, by reservation.
var names = caddy.NewUsagePool()

// reservation is a name within one configuration, which its registry stands for.
type reservation struct {
	registry *prometheus.Registry
	tee      string
}

// shared is what all tees of one name count together.
type shared struct {
	tee     string
	options *Options
	rules   *compare.Rules
	number  uint64 // later ones have a greater one
	logger  atomic.Pointer[zap.Logger]

	memory *pairs.Memory // of all runs

	mu  sync.Mutex
	run *run // since the beginning, or the last reset
}

var begun atomic.Uint64

// Destruct ends the comparing. What is on its way still is compared beside.
func (s *shared) Destruct() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.end()
	return nil
}

// reset makes the counts begin at zero. What is on its way counts to those
// before: it is not waited for, so that many resets keep no more than one.
func (s *shared) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.end()
	go s.run.close()
	s.run = newRun(s)
}

func (s *shared) current() *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// lately are the options of the comparison that came last into force, by tee:
// with them it is known that counts do not go on.
var lately sync.Map

// Comparison is the comparing of one tee of one configuration.
type Comparison struct {
	*shared
	// Hold reports whether so many bytes more of a response may be kept, until they
	// are given back with Return.
	Hold   func(bytes int) bool
	Return func(bytes int)

	shadows  []string
	patience time.Duration
	pool     atomic.Pointer[pooled]
	saving   *saving
	release  []func()
}

// pooled is the pool of a run.
type pooled struct {
	*pairs.Pool
	run *run
}

// Open returns the comparison that a tee has by its name and options, which are
// refused if they cannot work, as is another one of the same name in the same
// configuration. Timeout is that of the tee: from when the copy leaves a pair
// waits so long, and a while, for its last response. Every Open needs a Release.
func Open(ctx caddy.Context, tee string, shadows []string, o *Options, timeout time.Duration) (*Comparison, error) {
	rules, err := o.check()
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if err := registerMetrics(ctx.GetMetricsRegistry()); err != nil {
		return nil, err
	}
	id := identity{tee, string(content)}
	c := &Comparison{shadows: shadows, patience: timeout + grace}
	if err := c.reserveName(ctx, id); err != nil {
		c.Release()
		return nil, err
	}
	value, known, err := comparisons.LoadOrNew(id, func() (caddy.Destructor, error) {
		s := &shared{tee: tee, options: o, rules: rules, number: begun.Add(1), memory: pairs.NewMemory(max(mostHeld, mostBodies*int64(o.maxBody())))}
		s.run = newRun(s)
		return s, nil
	})
	if err != nil {
		c.Release()
		return nil, err
	}
	c.release = append(c.release, func() { _, _ = comparisons.Delete(id) })
	c.shared = value.(*shared)
	c.Hold = func(bytes int) bool { return c.memory.Take(int64(bytes)) }
	c.Return = func(bytes int) { c.memory.Return(int64(bytes)) }
	if c.saving, err = openSaving(ctx, tee, shadows, o); err != nil {
		c.Release()
		return nil, err
	}
	logger := ctx.Logger()
	return c, lifecycle.OnStart(ctx, func() {
		c.logger.Store(logger)
		if before, ok := lately.Swap(tee, id.options); ok && !known && before != id.options {
			logger.Info("compare has changed: counts of differences begin at zero", zap.String("tee", tee))
		}
	})
}

// grace is how much longer than the tee's timeout a pair waits for the primary.
const grace = 10 * time.Second

// reserveName refuses a name that a tee with other options has in the same
// configuration.
func (c *Comparison) reserveName(ctx caddy.Context, id identity) error {
	key := reservation{ctx.GetMetricsRegistry(), id.tee}
	options, _ := names.LoadOrStore(key, id.options)
	c.release = append(c.release, func() { _, _ = names.Delete(key) })
	if options != id.options {
		return fmt.Errorf("two tees with different options of compare are called '%s'", id.tee)
	}
	return nil
}

// Release ends the use by one tee.
func (c *Comparison) Release() {
	for _, release := range c.release {
		release()
	}
	if c.saving != nil {
		c.saving.release()
	}
}

// Wants reports whether the next copy is among those that are compared.
func (c *Comparison) Wants() bool { return c.options.Percent.Takes(rand.Uint64()) }

// MaxBody returns how many bytes of a body are kept.
func (c *Comparison) MaxBody() int { return c.options.maxBody() }

// Begin returns the exchange of a copy, which begins now; nil if there is no
// place for it.
func (c *Comparison) Begin(r *pairs.Request) *pairs.Exchange {
	return c.currentPool().Begin(r)
}

func (c *Comparison) currentPool() *pairs.Pool {
	run := c.current()
	p := c.pool.Load()
	if p == nil || p.run != run {
		p = &pooled{Pool: run.pool(c), run: run}
		c.pool.Store(p)
	}
	return p.Pool
}

// What the responses of the primary and of all shadows take together, from when
// they are received until they are compared: so many bytes, or so many times
// max_body if that is more.
const (
	mostHeld   = 64 << 20
	mostBodies = 4
)
