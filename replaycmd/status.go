// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// incomplete returns the exit status of a command that only reads.
func (r *records) incomplete(notes *notes, err error) (int, error) {
	if err == nil {
		err = r.missing()
	}
	if err != nil || len(notes.lost()) > 0 {
		return exitIncomplete, err
	}
	return caddy.ExitCodeSuccess, nil
}

// status returns the exit status of a run and what is to be said about it beside
// its report. Where errors are judged by a condition that holds they are no
// reason to fail.
func (p *params) status(r *report.Report, records *records, errRun error, shown bool) (int, error) {
	if sentNothing(r) && !r.Interrupted && r.Shard == nil { // others may have all
		return exitIncomplete, cmp.Or(errRun, p.unread(r), records.nothing("was sent", p.chosenBy()))
	}
	for _, check := range r.Checks {
		switch {
		case check.OK:
		case shown: // the report says it
			return exitFailed, nil
		default:
			return exitFailed, fmt.Errorf("%s: %s does not hold: it is %s", check.Target, check.Condition, check.Value)
		}
	}
	if err := cmp.Or(errRun, p.unread(r)); err != nil {
		return exitIncomplete, err
	}
	if !slices.ContainsFunc(p.conditions, report.Condition.OfUnlinked) {
		for _, t := range r.Targets {
			if t.Unlinked > 0 {
				return exitIncomplete, fmt.Errorf("%s: %d of %d requests were not sent, since what they need was in no answer", t.Name, t.Unlinked, t.Requests+t.Unlinked)
			}
		}
	}
	if slices.ContainsFunc(p.conditions, report.Condition.OfErrors) {
		return verdictStatus(r.Verdict(), shown)
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
	return verdictStatus(r.Verdict(), shown)
}

// sentences returns the lines of an error, none if there is none.
func sentences(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// chosenBy returns the flags that choose among the records.
func (p *params) chosenBy() []string {
	return p.given("method", "path", "id", "since", "until", "percent")
}

// sentNothing reports whether no target had anything to answer.
func sentNothing(r *report.Report) bool {
	return !slices.ContainsFunc(r.Targets, func(t report.Target) bool { return t.Requests+t.Unsent+t.Unlinked > 0 })
}

// unread returns an error if part of a recording could not be read.
func (p *params) unread(r *report.Report) error {
	if len(r.Problems) > 0 {
		return errors.New("part of the recording could not be read")
	}
	return nil
}
