// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

// seeking is the search for the highest rate at which conditions hold.
type seeking struct {
	findRate []report.Condition
}

func (s *seeking) define(flags *pflag.FlagSet) {
	flags.Var(several(&s.findRate, "CONDITION", report.ParseCondition), "find-rate", "Find the highest rate at which this holds, like 'p99<250ms' (repeatable); --rate is the first, --duration that of each")
}

const (
	firstTried = 50              // requests per second, without --rate
	triedFor   = 5 * time.Second // without --duration
)

// checkSeeking refuses what a search has no use for, and sets its defaults.
func (p *params) checkSeeking() error {
	if len(p.findRate) == 0 {
		return nil
	}
	if given := p.given("max", "speed", "requests", "reqs", "fail", "baseline", "record", "save", "live", "min-delay", "start-at", "exit-on-error", "dry-run", "test", "extract", "extract-to-file"); len(given) > 0 {
		return fmt.Errorf("--find-rate tries rates for a time each: expected it without %s", given[0])
	}
	for _, c := range p.findRate {
		if c.OfBaseline() {
			return fmt.Errorf("--find-rate: %s is about an earlier run, which a search has no use for: expected another condition", c)
		}
	}
	for _, r := range p.reports {
		if r.form.Rows {
			return fmt.Errorf("--report %s is of one run, and --find-rate makes several: expected another form", r.form.Name)
		}
	}
	if p.rate.End() > 0 {
		return errors.New("--find-rate begins with a rate that does not change: expected one like --rate 50/s")
	}
	if !p.rate.Given() {
		p.rate = schedule.Steady(firstTried)
	}
	if p.duration == 0 {
		p.duration = triedFor
	}
	return nil
}

// seek searches and reports. The report is that of the last run at the rate that
// was found.
func (p *params) seek(ctx context.Context, cmd *cobra.Command, args []string, first *records, notes *notes) (int, error) {
	names := make([]string, len(p.targets))
	for i, target := range p.targets {
		names[i] = target.Name
	}
	if p.old != "" {
		if _, err := p.sides(ctx, &again{&p.selection, args, cmd.InOrStdin()}); err != nil {
			return exitNotStarted, beforeStart(err)
		}
	}
	outputs, err := p.open(cmd.OutOrStdout(), names, false)
	if err != nil {
		return exitNotStarted, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	found := &report.FoundRate{Limit: "target"}
	for _, c := range p.findRate {
		found.Conditions = append(found.Conditions, c.String())
	}
	provenance := p.provenance(cmd, args, first)
	var last *report.Report
	held := make(map[float64]*report.Report) // the last at each rate
	search := schedule.Search{Start: p.rate.First(), Try: func(rate float64) (schedule.Verdict, error) {
		records := first
		if last != nil && first.url == nil {
			if records, err = p.selection.open(ctx, args, cmd.InOrStdin(), true, notes.note); err != nil {
				return schedule.Failed, err
			}
			defer records.Close()
		}
		r, err := p.tryRate(ctx, cmd, args, schedule.Rate(rate), provenance, records, notes)
		if err != nil {
			return schedule.Failed, err
		}
		tried, verdict := r.Try(rate, p.findRate)
		found.Tried = append(found.Tried, tried)
		last = r
		if verdict == schedule.Held {
			held[rate] = r
		}
		state := "held"
		if !tried.Held {
			state = "failed: " + tried.Why
		}
		if !p.quiet {
			fmt.Fprintf(report.Escaping(cmd.ErrOrStderr()), "%.5g/s for %s: %s\n", rate, p.duration, state)
		}
		return verdict, nil
	}}
	result, err := search.Run()
	found.Rate, found.Below = result.Rate, result.Above
	switch {
	case errors.Is(err, errInterrupted):
		found.Limit = "interrupted"
	case err != nil:
		return exitIncomplete, errors.Join(err, outputs.close())
	case result.Limited:
		found.Limit = "machine"
	case result.Above == 0:
		found.Limit = "tries"
	}
	shown := held[found.Rate]
	if shown == nil {
		shown = last
	}
	if shown == nil {
		return exitNotStarted, errors.Join(errBeforeStart, outputs.close())
	}
	shown.Found, shown.Problems, shown.Incomplete = found, notes.lost(), sentences(first.missing())
	if err := outputs.finish(shown); err != nil {
		return exitIncomplete, err
	}
	switch {
	case found.Limit == "interrupted":
		return exitIncomplete, errors.New(found.String())
	case found.Rate == 0:
		return exitFailed, errors.New(found.String())
	}
	return verdictStatus(shown.Verdict(), outputs.shown)
}

// tryRate sends at a rate for as long as --duration says.
func (p *params) tryRate(ctx context.Context, cmd *cobra.Command, args []string, rate schedule.Rate, run report.Run, records *records, notes *notes) (*report.Report, error) {
	plan := schedule.Schedule{Rate: schedule.Steady(rate), Poisson: p.poisson, Seed: p.seed, Warmup: p.warmup}
	d, err := p.newDelivery(records, plan, new(outputs))
	if err != nil {
		return nil, err
	}
	var compared *comparison
	if p.old != "" {
		if compared, err = p.newComparison(ctx, &plan, args, cmd.InOrStdin()); err != nil {
			return nil, err
		}
	}
	compared.join(d)
	p.followIn(d, records, plan)
	// What is due is sent late rather than not at all, however much that is.
	enough, cancel := context.WithTimeout(ctx, p.warmup+p.duration+min(p.duration, time.Minute)+p.timeout)
	defer cancel()
	started := time.Now()
	d.prepare()
	results, err := d.send(enough)
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		return nil, err
	}
	facts := report.Facts{
		Started: started, Elapsed: max(0, time.Since(started)-p.warmup), Pace: plan.String(), Timed: true, RateAsked: plan.PerSecond(0),
		Connections: p.connections, Problems: notes.lost(), By: p.by, Classes: d.classes, Run: run,
	}
	if records.url != nil {
		facts.Request = records.url.String()
	}
	r, err := report.New(facts, results)
	if err != nil {
		return nil, err
	}
	p.reportLinks(d, r, notes.note)
	d.changing.report(r)
	if err := compared.finish(ctx, d, r, cmd.OutOrStdout()); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return r, nil
}
