// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// run does what the flags say.
func (p *params) run(cmd *cobra.Command, args []string) (int, error) {
	if err := p.validate(args); err != nil {
		return exitNotStarted, err
	}
	ctx, stop, notes := begin(cmd)
	defer stop()
	notes.quiet = p.quiet
	if p.test {
		out := &saying{Writer: cmd.OutOrStdout()}
		status, err := p.testIntegrity(ctx, report.Escaping(out), args, cmd.InOrStdin(), notes.note)
		return out.status(status, err)
	}
	if !p.only() || p.percent != nil || p.shard != nil { // which are of sessions
		if err := p.findLinks(ctx, args, cmd.InOrStdin(), notes.note); err != nil {
			return exitNotStarted, beforeStart(err)
		}
	}
	records, err := p.selection.open(ctx, args, cmd.InOrStdin(), (p.loop || len(p.findRate) > 0) && !p.only(), notes.note)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	defer records.Close()
	if records.url != nil {
		if err := p.use(records.url); err != nil {
			return exitNotStarted, err
		}
	}
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
	if len(p.findRate) > 0 {
		return p.seek(ctx, cmd, args, records, notes)
	}
	plan, err := p.plan(records)
	if err != nil {
		return exitNotStarted, beforeStart(err)
	}
	if p.dryRun {
		out := &saying{Writer: cmd.OutOrStdout()}
		err = p.describe(ctx, report.Escaping(out), records, plan, notes.note)
		return out.status(records.incomplete(notes, err))
	}
	var compared *comparison
	if p.old != "" {
		if compared, err = p.newComparison(ctx, &plan, args, cmd.InOrStdin()); err != nil {
			return exitNotStarted, beforeStart(err)
		}
	}
	return p.send(ctx, cmd, p.provenance(cmd, args, records), records, plan, notes, compared)
}

var errBeforeStart = errors.New("interrupted before the start")

// beforeStart returns what ended the command before it began.
func beforeStart(err error) error {
	if errors.Is(err, context.Canceled) {
		return errBeforeStart
	}
	return err
}

// send sends the records and reports.
func (p *params) send(ctx context.Context, cmd *cobra.Command, run report.Run, records *records, plan schedule.Schedule, notes *notes, compared *comparison) (int, error) {
	names := make([]string, len(p.targets))
	for i, target := range p.targets {
		names[i] = target.Name
	}
	outputs, err := p.open(cmd.OutOrStdout(), names, compared.printsPairs())
	if err != nil {
		return exitNotStarted, err
	}
	d, err := p.newDelivery(records, plan, outputs)
	if err != nil {
		return exitNotStarted, errors.Join(err, outputs.close())
	}
	finishRecording := func() error { return nil }
	if p.record != "" {
		k, err := newKeeper(context.WithoutCancel(ctx), p.record, p.targets, plan.Timed())
		if err != nil {
			return exitNotStarted, errors.Join(err, outputs.close())
		}
		d.capturing.add(k, keptBody)
		finishRecording = func() error { return k.finish(notes.note) }
	}
	compared.join(d)
	p.followIn(d, records, plan)
	d.mine = p.newShardFilter(d.changing)
	if compared != nil {
		defer collectSeldom()()
	} else {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	if err := schedule.NewTimerWaiter().Wait(ctx, p.startAt); err != nil {
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
	d.prepare()
	hide, drawn := func() {}, false
	if p.live {
		hide, drawn = p.showLive(cmd.ErrOrStderr(), d, records)
	}
	if !drawn {
		hide = p.showProgress(cmd.ErrOrStderr(), d, records)
	}
	results, errRun := d.send(ctx)
	hide()
	for i, l := range d.lines[:d.counted()] {
		for _, err := range l.firstErrors.all() {
			notes.note(fmt.Errorf("%s: the first failure of its kind is %v%s", names[i], err, p.hint(err)))
		}
	}
	records.noteUntimed(notes.note)
	d.changing.noteUnsigned(notes.note)
	errRun = cmp.Or(errRun, records.missing(), finishRecording())
	facts := report.Facts{
		Started: started, Elapsed: max(0, time.Since(started)-p.warmup), Pace: plan.String(), Timed: plan.Timed(),
		RateAsked: plan.PerSecond(p.duration) / p.shards(), Connections: p.connections, Interrupted: interrupted.Err() != nil,
		Problems: notes.lost(), By: p.by, Classes: d.classes, Run: run, Shard: p.sharded(cmd, records),
	}
	if records.url != nil {
		facts.Request = records.url.String()
	}
	r, err := report.New(facts, results)
	if err != nil {
		return exitIncomplete, err
	}
	p.reportLinks(d, r, notes.note)
	d.changing.report(r)
	errRun = errors.Join(errRun, compared.finish(ctx, d, r, cmd.OutOrStdout()))
	r.Incomplete = sentences(errRun)
	r.Interrupted = interrupted.Err() != nil
	if p.baseline != nil {
		r.SetBaseline(p.baseline)
	}
	r.Judge(p.conditions)
	if err := outputs.finish(r); err != nil {
		return exitIncomplete, err
	}
	return p.status(r, records, errRun, outputs.shown)
}

// hint returns what to do about a failure, where there is something.
func (p *params) hint(err error) string {
	var verification *tls.CertificateVerificationError
	if !p.insecure && errors.As(err, &verification) {
		return " (--insecure accepts any certificate)"
	}
	return ""
}

func (p *params) newDelivery(records *records, plan schedule.Schedule, outputs *outputs) (*delivery, error) {
	d := &delivery{
		records: records, same: records.url != nil && records.url.Same(), stopReading: records.stop,
		schedule: plan, targets: p.targets, connections: p.connections * p.streams, requests: p.requests, duration: p.duration,
		rewriter: p.rewriter(), changing: p.changing(), by: p.by, classes: report.NewClasses(p.by), stopAtFailure: p.stopAtErrors,
		options: send.Options{
			Timeout: p.timeout, Insecure: p.insecure, HTTP2: p.http2, NoKeepAlive: p.noKeepAlive, Redirects: p.redirects,
			TargetHost: p.host == hostTarget,
		},
	}
	d.rewriter.Close, d.options.ServerName = p.noKeepAlive, d.rewriter.Host
	if err := p.connecting.apply(&d.options); err != nil {
		return nil, err
	}
	if len(outputs.rows) > 0 {
		d.rows = outputs.row
	}
	return d, nil
}

// rewriter returns how requests differ from the records.
func (p *params) rewriter() send.Rewriter {
	rewriter := send.Rewriter{Targets: p.rewrites, Set: p.set, Remove: slices.Concat(p.remove, []string{recording.CopyField}), OriginForm: p.host != hostPreserve}
	if p.host != hostPreserve && p.host != hostTarget {
		rewriter.Host = p.host
	}
	return rewriter
}

// gcPercent keeps the memory of a long run near that of a short one. What a run
// needs it reuses, so that there is little to collect.
const gcPercent = 50

// Where responses are compared each pair leaves a little behind. A small heap would
// be collected all the time for that; so it is collected when so many bytes have
// piled up, within these percentages of what is in use.
const (
	garbage    = 48 << 20
	mostPerGC  = 300
	leastPerGC = gcPercent
	adaptEvery = 250 * time.Millisecond
)

// collectSeldom collects garbage as a run that compares needs it, until the function
// that it returns is called, which restores how it was.
func collectSeldom() (end func()) {
	before := debug.SetGCPercent(mostPerGC)
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer mayFail()
		ticker := time.NewTicker(adaptEvery)
		defer ticker.Stop()
		percent := mostPerGC
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-ticker.C:
				metrics.Read(live)
				if now := perGC(live[0].Value.Uint64()); now != percent {
					percent = now
					debug.SetGCPercent(percent)
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
		debug.SetGCPercent(before)
	}
}

// perGC returns how much garbage may pile up, in percent of what is in use, in steps
// so that not each change of that is one.
func perGC(live uint64) int {
	const step = 25
	return int(min(max(garbage*100/max(live, 1)/step*step, leastPerGC), mostPerGC))
}
