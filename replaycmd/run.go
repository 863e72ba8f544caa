// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/drive"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// run does what the flags say.
func (p *params) run(cmd *cobra.Command, args []string) (int, error) {
	if err := p.validate(args); err != nil {
		return exitNotStarted, err
	}
	ctx, stop := untilInterrupted(cmd.Context(), cmd.ErrOrStderr())
	defer stop()
	notes := &notes{w: cmd.ErrOrStderr(), quiet: p.quiet}
	if p.test {
		return p.testIntegrity(ctx, cmd.OutOrStdout(), args, cmd.InOrStdin(), notes.note)
	}
	records, err := p.selection.open(ctx, args, cmd.InOrStdin(), p.loop && !p.only(), notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	if records.url != nil && len(p.targets) == 0 {
		target, err := send.ParseTarget(records.url.Origin)
		if err != nil {
			return exitNotStarted, err
		}
		p.targets = []send.Target{target}
	}
	if p.extract != "" {
		if err := os.MkdirAll(p.extract, 0o700); err != nil {
			return exitNotStarted, err
		}
		err = p.extractTo(ctx, p.extract, records, notes.note)
		return records.incomplete(notes, err)
	}
	schedule, err := p.schedule(records)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	if p.dryRun {
		err = p.describe(ctx, cmd.OutOrStdout(), records, schedule)
		return records.incomplete(notes, err)
	}
	return p.send(ctx, cmd, records, schedule, notes)
}

var errBeforeStart = errors.New("interrupted before the start")

// beforeStart says what ended the command before it began.
func beforeStart(err error) error {
	if errors.Is(err, context.Canceled) {
		return errBeforeStart
	}
	return err
}

// incomplete gives the exit status of a command that only reads.
func (r *records) incomplete(notes *notes, err error) (int, error) {
	if err == nil {
		err = r.missing()
	}
	if err != nil || len(notes.lost()) > 0 {
		return exitIncomplete, err
	}
	return caddy.ExitCodeSuccess, nil
}

// schedule says when requests are due.
func (p *params) schedule(records *records) (pace.Schedule, error) {
	s := pace.Schedule{Rate: p.rate, Speed: p.speed, MinDelay: p.minDelay}
	if records.url != nil {
		return s, nil
	}
	timed, err := records.timed() // which also has the first records read before the clock starts
	switch {
	case err != nil:
		return s, err
	case p.max, p.rate > 0:
	case !timed && p.speed > 0:
		return s, errors.New("the records have no times for --speed: expected --rate or --max")
	case timed && p.speed == 0:
		s.Speed = 1
	}
	return s, nil
}

// paceOf names the schedule for the report.
func paceOf(s *pace.Schedule) string {
	switch {
	case s.Rate > 0:
		return s.Rate.String()
	case s.Speed > 0:
		return s.Speed.String()
	case s.MinDelay > 0:
		return "every " + s.MinDelay.String()
	}
	return "max"
}

// gcPercent keeps the memory of a long run near that of a short one. What a run
// needs it reuses, so that there is little to collect.
const gcPercent = 50

// send sends the records and reports.
func (p *params) send(ctx context.Context, cmd *cobra.Command, records *records, schedule pace.Schedule, notes *notes) (int, error) {
	names := make([]string, len(p.targets))
	for i, target := range p.targets {
		names[i] = target.Name
	}
	outputs, err := p.open(cmd.OutOrStdout(), names)
	if err != nil {
		return exitNotStarted, err
	}
	run := p.newRun(records, schedule, outputs)
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	if err := pace.NewTimerWaiter().Wait(ctx, p.startAt); err != nil {
		return exitNotStarted, errors.Join(errBeforeStart, outputs.close())
	}
	interrupted := ctx
	ctx, stopRun := context.WithCancel(ctx)
	defer stopRun()
	if p.stopAtErrors {
		notes.problem = func(error) { stopRun() }
		if len(notes.lost()) > 0 { // found by reading ahead
			stopRun()
		}
	}
	started := time.Now()
	run.Start()
	hide := p.showProgress(cmd.ErrOrStderr(), run, records)
	results, errRun := run.Drive(ctx)
	hide()
	for i, result := range results {
		for _, err := range result.Firsts {
			notes.note(fmt.Errorf("%s: the first failure of its kind is %v", names[i], err))
		}
	}
	if errRun == nil {
		errRun = records.missing()
	}
	facts := report.Run{
		Started: started, Elapsed: time.Since(started), Pace: paceOf(&schedule), Timed: schedule.Timed(),
		RateAsked: float64(schedule.Rate), Connections: p.connections, Interrupted: interrupted.Err() != nil,
		Problems: notes.lost(), By: p.by, Classes: run.Classes,
	}
	r, err := report.New(facts, results)
	if err != nil {
		return exitIncomplete, err
	}
	p.judge(r)
	if err := outputs.write(r); err != nil {
		return exitIncomplete, err
	}
	return p.status(r, errRun)
}

func (p *params) newRun(records *records, schedule pace.Schedule, outputs *outputs) *drive.Run {
	options := send.Options{
		Timeout: p.timeout, Insecure: p.insecure, HTTP2: p.http2, NoKeepAlive: p.noKeepAlive, Redirects: p.redirects,
		TargetHost: p.host == hostTarget,
	}
	rewriter := p.rewriter()
	rewriter.Close, options.ServerName = p.noKeepAlive, rewriter.Host
	run := &drive.Run{
		Records: records, Same: records.url != nil, Rewriter: rewriter, Schedule: schedule,
		Targets: p.targets, Send: options, Connections: p.connections,
		Requests: p.requests, Duration: p.duration, By: p.by, Classes: measure.NewClasses(p.by),
		StopAtFailure: p.stopAtErrors, StopReading: records.stop,
	}
	if len(outputs.csv) > 0 {
		run.Rows = func(target int, row measure.Row) {
			for _, c := range outputs.csv {
				c.Row(target, row)
			}
		}
	}
	return run
}

// markField is what a tee puts into the requests that it copies. A tee of the
// same name before a target would take them for copies of its own.
const markField = "X-Rehearsal-Copy"

// rewriter says how requests differ from the records.
func (p *params) rewriter() send.Rewriter {
	rewriter := send.Rewriter{Set: p.set, Remove: slices.Concat(p.remove, []string{markField})}
	if p.host != hostPreserve && p.host != hostTarget {
		rewriter.Host = p.host
	}
	return rewriter
}

// judge adds to the report whether the conditions hold.
func (p *params) judge(r *report.Report) {
	for _, condition := range p.conditions {
		for i := range r.Targets {
			r.Checks = append(r.Checks, condition.Judge(&r.Targets[i]))
		}
	}
}

// status gives the exit status of a run. Where errors are judged by a condition
// that holds they are no reason to fail.
func (p *params) status(r *report.Report, errRun error) (int, error) {
	for _, check := range r.Checks {
		if !check.OK {
			return exitFailed, fmt.Errorf("%s: %s does not hold: it is %s", check.Target, check.Condition, check.Value)
		}
	}
	if errRun != nil {
		return exitIncomplete, errRun
	}
	if len(r.Problems) > 0 {
		return exitIncomplete, errors.New("part of the recording could not be read")
	}
	for _, condition := range p.conditions {
		if condition.OfErrors() {
			return caddy.ExitCodeSuccess, nil
		}
	}
	for _, t := range r.Targets {
		if t.Unsent > 0 {
			return exitIncomplete, fmt.Errorf("%s: %d of %d requests were not started in time: it does not keep up with the schedule over %d connections",
				t.Name, t.Unsent, t.Requests+t.Unsent, p.connections)
		}
		if t.Errors > 0 {
			return exitIncomplete, fmt.Errorf("%s: %d of %d requests have no answer", t.Name, t.Errors, t.Requests)
		}
	}
	return caddy.ExitCodeSuccess, nil
}
