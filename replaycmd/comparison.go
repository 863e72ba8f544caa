// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/pairs"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// comparison has the responses of a run compared. It takes them as they come
// and, where requests are due at times, holds nobody up: what it has no room for
// it sheds, and counts.
type comparison struct {
	sides
	again    again
	confirm  string
	duration time.Duration // for asking again; 0: as long as it takes
	rules    *compare.Rules
	systems  []*newSystem
	pools    []*pairs.Pool
	targets  []send.Target // with those that are asked a second time behind them
	seats    [][]seat      // of each target
	seed     uint64
	patient  bool        // nothing is due at a time
	waiting  int         // requests that may wait for a response
	found    *foundPairs // nil unless pairs are printed
}

// newSystem is one of those that are judged.
type newSystem struct {
	target     string
	tally      *tally.Tally
	save       *pairSaver // nil: pairs are not saved
	confirming atomic.Int64
	notAsked   string
}

// seat is whose responses a target's are, in one of the pools.
type seat struct {
	pool *pairs.Pool
	side pairs.Side
	// swap is who else asks the same system: which of both has this side is
	// drawn for each request, so that neither always comes first.
	swap    pairs.Side
	swapped bool
	// recorded: the recorded response is handed in as well.
	recorded bool
}

const (
	// maxCompared is how many bytes of a body are compared.
	maxCompared = 4 << 20

	// laggard is how much longer than a request may take its responses are waited
	// for: one target may be behind another.
	laggard = 20 * time.Second

	// Requests that may wait for one of their responses: how far targets may be
	// apart that keep in step, and a slow one under a schedule.
	leastWaiting      = 4096
	mostPerConnection = 4
)

// newComparison returns the comparison of a run.
func (p *params) newComparison(ctx context.Context, plan *schedule.Schedule, args []string, stdin io.Reader) (*comparison, error) {
	c := &comparison{
		again: again{&p.selection, args, stdin}, confirm: p.confirm, duration: p.duration, targets: slices.Clone(p.targets), seed: rand.Uint64(),
		patient: !plan.Timed(), waiting: max(leastWaiting, mostPerConnection*p.connections),
	}
	var err error
	if c.sides, err = p.sides(ctx, &c.again); err != nil {
		return nil, err
	}
	if c.rules, err = compare.NewRules(p.rules); err != nil {
		return nil, err
	}
	if len(p.ids) > 0 && len(p.reports) == 0 && len(p.findRate) == 0 {
		c.found = new(foundPairs)
	}
	for _, i := range c.fresh {
		s := &newSystem{
			target: p.targets[i].Name,
			tally:  tally.New(tally.Options{Noise: c.measured(), ConfirmAll: p.confirm == confirmAll}),
		}
		c.systems = append(c.systems, s)
	}
	if p.save != "" {
		if err := c.savePairs(p.save); err != nil {
			return nil, err
		}
	}
	c.seats = make([][]seat, len(p.targets))
	if c.old == fromRecords && c.self {
		c.seatRecordedAndSelf(p.timeout)
	} else {
		c.seatAll(p.timeout)
	}
	return c, nil
}

// seatRecordedAndSelf asks each new system twice, so that each has an old′ of
// its own.
func (c *comparison) seatRecordedAndSelf(timeout time.Duration) {
	for k, i := range c.fresh {
		pool := c.newPool(timeout, true, c.systems[k])
		fresh := pairs.NewSystem(0)
		c.seats[i] = []seat{{pool: pool, side: fresh, swap: pairs.Twin, swapped: true, recorded: true}}
		c.askTwice(i, seat{pool: pool, side: pairs.Twin, swap: fresh, swapped: true})
	}
}

// seatAll compares all new systems with one old system.
func (c *comparison) seatAll(timeout time.Duration) {
	pool := c.newPool(timeout, false, c.systems...)
	for k, i := range c.fresh {
		c.seats[i] = []seat{{pool: pool, side: pairs.NewSystem(k), recorded: c.old == fromRecords && k == 0}}
	}
	switch {
	case c.self:
		c.seats[c.old] = []seat{{pool: pool, side: pairs.Old, swap: pairs.Twin, swapped: true}}
		c.askTwice(c.old, seat{pool: pool, side: pairs.Twin, swap: pairs.Old, swapped: true})
	case c.old != fromRecords:
		c.seats[c.old] = []seat{{pool: pool, side: pairs.Old}}
	}
	if c.twin != noTarget {
		c.seats[c.twin] = []seat{{pool: pool, side: pairs.Twin}}
	}
}

// askTwice adds a target to those that are asked a second time.
func (c *comparison) askTwice(target int, at seat) {
	c.targets = append(c.targets, c.targets[target])
	c.seats = append(c.seats, []seat{at})
}

func (c *comparison) newPool(timeout time.Duration, twinOfNew bool, systems ...*newSystem) *pairs.Pool {
	o := pairs.Options{
		Rules: c.rules, Noise: c.measured(), TwinOfNew: twinOfNew, Timeout: timeout + laggard, Patient: c.patient, Waiting: c.waiting,
		Compared: func(i int, p *tally.Pair) { c.compared(systems[i], p) },
	}
	for _, s := range systems {
		o.Tallies = append(o.Tallies, s.tally)
	}
	pool := pairs.New(o)
	c.pools = append(c.pools, pool)
	return pool
}

// compared takes a pair that was counted.
func (c *comparison) compared(s *newSystem, p *tally.Pair) {
	if s.save != nil && isDifferent(p) {
		s.save.add(p)
	}
	if c.found != nil {
		c.found.add(s.target, p)
	}
}

// isDifferent reports whether a pair differs in a field in which one system does
// not differ from itself, and that doesn't look made anew for each response.
func isDifferent(p *tally.Pair) bool {
	for i := range p.Diff.Differences {
		d := &p.Diff.Differences[i]
		if p.Noise == nil && d.Generated == compare.NotGenerated || p.Noise != nil && !hasField(p.Noise, d.Field) {
			return true
		}
	}
	return false
}

func hasField(r *compare.Result, field string) bool {
	for i := range r.Differences {
		if r.Differences[i].Field == field {
			return true
		}
	}
	return false
}

// consume takes a response.
func (c *comparison) consume(x *exchange) {
	for _, at := range c.seats[x.target] {
		request := pairs.Request{
			ID: c.again.id(x.record), Method: x.record.Method, Target: x.record.URI, Body: x.record.Body, Header: x.record.Headers,
		}
		joined := at.pool.Join(uint64(x.number), &request)
		if at.recorded {
			handInRecorded(at.pool.Join(uint64(x.number), &request), x.record)
		}
		side := at.side
		if at.swapped && c.drawn(x.number) {
			side = at.swap
		}
		response, reason := responseOf(x, c.targets[x.target].Base)
		if reason != "" {
			joined.Fail(side, reason)
			continue
		}
		if c.old == fromRecords && response.Error != "" {
			response.Error = brokenOff // recordings have other words for it
		}
		joined.Respond(side, &response)
	}
}

// drawn returns the same as likely as not for each number.
func (c *comparison) drawn(number int64) bool {
	return rand.NewPCG(c.seed, uint64(number)).Uint64()&1 == 0
}

// Reasons for which a response is not compared.
const (
	reasonInterrupted = "interrupted"
	reasonUnsendable  = "unsendable"
	reasonNoRecorded  = "no_recorded_response"
)

// join makes a delivery pass responses on, and send to the targets that are
// asked a second time, which are in no figure. Of no comparison it does
// nothing, as printsPairs and finish do.
func (c *comparison) join(d *delivery) {
	if c == nil {
		return
	}
	d.hidden = len(c.targets) - len(d.targets)
	d.targets = c.targets
	d.inStep = true
	d.capturing.add(c, maxCompared)
	d.capturing.recorded = d.capturing.recorded || c.old == fromRecords
}

// printsPairs reports whether pairs are printed in place of a report.
func (c *comparison) printsPairs() bool { return c != nil && c.found != nil }

// noneFound returns why there is no pair to print of what was sent, nil if there
// is one.
func (c *comparison) noneFound() error {
	var reasons []string
	for _, s := range c.systems {
		for reason := range s.tally.Table().Partial {
			reasons = append(reasons, strings.ReplaceAll(reason, "_", " "))
		}
	}
	if len(c.found.pairs) > 0 || len(reasons) == 0 {
		return nil
	}
	slices.Sort(reasons)
	return fmt.Errorf("there is no pair to print: %s", strings.Join(slices.Compact(reasons), ", "))
}

// finish completes a comparison when all was sent: it has the rest compared, asks
// again what may be noise, and adds what was found to the report.
func (c *comparison) finish(ctx context.Context, d *delivery, r *report.Report, stdout io.Writer) error {
	if c == nil {
		return nil
	}
	for _, pool := range c.pools {
		pool.Close()
	}
	var errs []error
	if c.found != nil {
		errs = append(errs, c.found.write(stdout), c.noneFound())
	}
	errs = append(errs, c.askAgain(ctx, d, time.Duration(r.ElapsedMS*float64(time.Millisecond))))
	for _, s := range c.systems {
		found := report.Comparison{
			Target: s.target, Old: report.Recorded, Confirming: s.confirming.Load(), NotAsked: s.notAsked, Counts: s.tally,
		}
		if c.old != fromRecords {
			found.Old = c.targets[c.old].Name
		}
		switch {
		case c.self:
			found.Noise = report.Self
		case c.twin != noTarget:
			found.Noise = c.targets[c.twin].Name
		}
		if s.save != nil {
			errs = append(errs, s.save.close())
		}
		r.AddComparison(found)
	}
	return errors.Join(errs...)
}
