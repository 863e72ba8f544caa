// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

const (
	mostAskers    = 8        // requests asked again at once
	maxAgainBytes = 64 << 20 // of requests that are asked again

	// leastAgain is how many requests a second each system is asked again at least
	// where the run was slower: a recording of a quiet hour would take hours.
	leastAgain = 10
)

// confirmation asks requests again whose differences may be noise, when the run
// is over. What it sends is in no figure of the run.
type confirmation struct {
	*comparison
	delivery *delivery
	old      int // who is asked for old, and for old′
	twin     int
	messages map[string]*send.Message
	paces    []pace // of the targets
}

// pace keeps requests apart, so that a target is asked no faster than the run
// has asked it.
type pace struct {
	every time.Duration // 0: as fast as it goes

	mu   sync.Mutex
	next time.Time
}

// wait waits until another request may be sent, or ctx ends.
func (p *pace) wait(ctx context.Context) {
	if p.every == 0 {
		return
	}
	p.mu.Lock()
	at := p.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	p.next = at.Add(p.every)
	p.mu.Unlock()
	_ = schedule.NewTimerWaiter().Wait(ctx, at) // who asks looks at ctx
}

// pacesOf returns how far apart the requests to the targets of a run were on
// average, where they were due at times.
func (c *comparison) pacesOf(d *delivery, took time.Duration) []pace {
	paces := make([]pace, len(c.targets))
	if c.patient {
		return paces
	}
	for i := range paces {
		if n, _ := d.lines[i].collector.Counts(); n > 0 {
			paces[i].every = min(took/time.Duration(n), time.Second/leastAgain)
		}
	}
	return paces
}

// askAgain asks again what the tallies want to know, of all new systems in step:
// the more requests are asked in the run, the surer each has to be. It ends with
// ctx, and after another duration of the run if that has one.
func (c *comparison) askAgain(ctx context.Context, d *delivery, took time.Duration) error {
	if c.confirm == confirmOff || !c.measured() || c.found != nil {
		return nil
	}
	again := &confirmation{comparison: c, delivery: d, messages: make(map[string]*send.Message), paces: c.pacesOf(d, took)}
	switch {
	case ctx.Err() != nil:
		c.notAsked("anything: the run was interrupted")
		return nil
	case d.changing.follows():
		c.notAsked("anything: what requests have of earlier answers is gone")
		return nil
	case c.old == fromRecords && c.self:
		c.notAsked("anything: the old system is there as recorded responses only")
		return nil
	case c.old == fromRecords:
		again.old, again.twin = c.twin, c.twin
	case c.self:
		again.old, again.twin = c.old, c.old
	default:
		again.old, again.twin = c.old, c.twin
	}
	stream, err := c.again.stream()
	switch {
	case err != nil:
		return err
	case stream != "":
		c.notAsked("anything: " + stream + " cannot be read again")
		return nil
	}
	if c.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.duration)
		defer cancel()
	}
	return again.run(ctx)
}

// notAsked notes why not all was asked again.
func (c *comparison) notAsked(why string) {
	for _, s := range c.systems {
		s.notAsked = why
	}
}

func (c *confirmation) run(ctx context.Context) error {
	steps := make([]*tally.Confirmation, len(c.systems))
	for i, s := range c.systems {
		steps[i] = s.tally.Confirm(c.seed)
	}
	const inRounds = 2 // the step whose requests count
	for step := 1; ; step++ {
		asks := make([][]tally.Ask, len(steps))
		total := 0
		for i := range steps {
			asks[i] = steps[i].Next()
			total += len(asks[i])
		}
		if total == 0 {
			return nil
		}
		if step == inRounds {
			for i, s := range c.systems {
				s.tally.AskedBeside(int64(total - len(asks[i])))
			}
		}
		if step == 1 {
			if err := c.load(ctx, asks); err != nil && ctx.Err() == nil {
				return err
			}
		}
		for i := range steps {
			if err := c.ask(ctx, i, steps[i], asks[i]); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			c.notAsked("all: the run ended before")
			return nil
		}
	}
}

// errAllFound ends reading.
var errAllFound = errors.New("all requests were found")

// load makes messages of the records that are asked again.
func (c *confirmation) load(ctx context.Context, asks [][]tally.Ask) error {
	wanted := make(map[string]bool)
	for i := range asks {
		for _, ask := range asks[i] {
			wanted[ask.ID] = true
		}
	}
	size := 0
	changer := c.delivery.newChanger(0, nil)
	err := c.again.each(ctx, func(r *recording.Request) error {
		id := c.again.id(r)
		if !wanted[id] {
			return nil
		}
		m := new(send.Message)
		if changer != nil {
			r = changer.moved(r, time.Now())
		}
		if c.delivery.rewriter.Write(m, r) == nil && size+m.Size() <= maxAgainBytes {
			size += m.Size()
			c.messages[id] = m
		}
		delete(wanted, id)
		if len(wanted) == 0 {
			return errAllFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAllFound) {
		return fmt.Errorf("reading requests to ask again: %v", err)
	}
	return nil
}

// ask asks the requests of one new system again, several at once.
func (c *confirmation) ask(ctx context.Context, system int, step *tally.Confirmation, asks []tally.Ask) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range min(mostAskers, c.delivery.connections, len(asks)) {
		wg.Go(func() {
			a := c.newAsker(ctx, system)
			defer a.close()
			defer func() {
				if value := recover(); value != nil {
					failed.Store(new(faultOf(value)))
				}
			}()
			for n := next.Add(1); int(n) <= len(asks) && ctx.Err() == nil; n = next.Add(1) {
				a.ask(ctx, step, &asks[n-1])
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// asker asks one request after the other, each over and over.
type asker struct {
	*confirmation
	system      *newSystem
	clients     [tally.Twin + 1]*send.Client
	paces       [tally.Twin + 1]*pace
	bases       [tally.Twin + 1]string
	diff, noise *compare.Comparer
}

func (c *confirmation) newAsker(ctx context.Context, system int) *asker {
	a := &asker{
		confirmation: c, system: c.systems[system],
		diff: compare.NewComparer(c.rules), noise: compare.NewComparer(c.rules),
	}
	for of, target := range [...]int{tally.Old: c.old, tally.NewSystem: c.fresh[system], tally.Twin: c.twin} {
		a.paces[of], a.bases[of] = &c.paces[target], c.targets[target].Base
		a.clients[of] = send.NewClient(ctx, c.delivery.lines[target].dialer)
		a.clients[of].Capture = &http1.Capture{MaxBody: maxCompared}
	}
	return a
}

func (a *asker) close() {
	for _, client := range a.clients {
		client.Close()
	}
}

// ask asks a request as often as it is to be asked, unless ctx ends.
func (a *asker) ask(ctx context.Context, step *tally.Confirmation, ask *tally.Ask) {
	m := a.messages[ask.ID]
	if m == nil {
		return
	}
	for round := range ask.Rounds {
		var got [tally.Twin + 1]*compare.Response
		for _, of := range ask.Order(round) {
			if a.paces[of].wait(ctx); ctx.Err() != nil {
				return
			}
			if got[of] = a.send(of, m); got[of] == nil || ctx.Err() != nil {
				return
			}
		}
		diff := a.diff.Compare(got[tally.Old], got[tally.NewSystem])
		var noise *compare.Result
		if got[tally.Twin] != nil {
			noise = a.noise.Compare(got[tally.Old], got[tally.Twin])
		}
		if !diff.Unequal && (noise == nil || !noise.Unequal) {
			step.Record(ask.ID, diff, noise)
		}
	}
}

// send asks one system once. It returns nil if there is nothing to compare.
func (a *asker) send(of tally.System, m *send.Message) *compare.Response {
	client := a.clients[of]
	start := time.Now()
	a.system.confirming.Add(1)
	got, err := client.Send(m, start)
	response, reason := responseOf(&exchange{
		status: got.Status, response: client.Capture, bodySize: got.BodySize, err: err, started: start, ended: got.Ended,
	}, a.bases[of])
	if reason != "" {
		return nil
	}
	return &response
}
