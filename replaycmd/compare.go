// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// comparing is what --compare and the flags that belong to it say.
type comparing struct {
	old     string // report.Recorded, a target's name or oldByRecords; empty: nothing is compared
	noise   string // report.Self or a target's name; empty: noise is not measured
	confirm string
	rules   compare.Options
	save    string // folder
}

const (
	// oldByRecords is --compare without a value, as the help shows it.
	oldByRecords = "recorded|NAME"

	confirmSafe = "safe"
	confirmAll  = "all"
	confirmOff  = "off"
)

func (c *comparing) define(flags *pflag.FlagSet) {
	flags.VarPF(single(&c.old, "", parseText).once(), "compare", "", "Compare the responses of the targets with the recorded ones, or with those of the target NAME; by default with the recorded ones if every record has one, else with the first --to").NoOptDefVal = oldByRecords
	flags.Var(single(&c.noise, "NAME|self", parseText).once(), "noise", "Measure what differs without a reason: by the target NAME, a twin of the old system, or by asking that twice")
	flags.Var(single(&c.confirm, "safe|all|off", parseConfirm).or(confirmSafe), "confirm", "With --noise, ask some requests again when the run is over: those with safe methods, any, or none")
	flags.Var(several(&c.rules.IgnoreHeaders, "NAME", parseFieldName), "ignore-header", "Differences of this header field don't count (repeatable)")
	flags.Var(several(&c.rules.IgnoreJSON, "PATH", parseRule(func(o *compare.Options, path string) { o.IgnoreJSON = []string{path} })), "ignore-json", "Differences at this place in JSON and below don't count, like '$.items[*].id' (repeatable)")
	flags.Var(several(&c.rules.Unordered, "PATH", parseRule(func(o *compare.Options, path string) { o.Unordered = []string{path} })), "unordered", "The order of this array in JSON doesn't count (repeatable)")
	flags.Var(single(&c.rules.RequireEqual, "NAME", parseFieldName).once(), "require-equal", "Leave out pairs whose values of this header field differ")
	flags.Var(single(&c.save, "FOLDER", parseText).once(), "save", "Write the pairs that differ as recordings into the folders old and new of this one")
}

// parseRule checks a path that one of the rules consists of.
func parseRule(set func(*compare.Options, string)) func(string) (string, error) {
	return func(text string) (string, error) {
		var o compare.Options
		set(&o, text)
		_, err := compare.NewRules(o)
		return text, err
	}
}

func parseConfirm(text string) (string, error) {
	switch text {
	case confirmSafe, confirmAll, confirmOff:
		return text, nil
	}
	return "", fmt.Errorf("'%s' is not valid: expected safe, all or off", text)
}

// checkComparison checks what the flags about comparing say together.
func (p *params) checkComparison(args []string) error {
	if p.old == "" {
		if given := p.given("noise", "confirm", "ignore-header", "ignore-json", "unordered", "require-equal", "save"); len(given) > 0 {
			return fmt.Errorf("%s is about comparing: expected --compare as well", given[0])
		}
		return p.checkConditions(report.Condition.OfComparison, "comparing: expected --compare as well")
	}
	for _, t := range p.targets {
		if t.Name == report.Recorded || t.Name == report.Self {
			return fmt.Errorf("parsing --to: with --compare no target can be called %s: name it otherwise", t.Name)
		}
	}
	if slices.ContainsFunc(args, source.IsURL) && p.old == report.Recorded {
		return errors.New("a URL has no recorded responses: expected --compare=NAME, or a recording")
	}
	if p.noise == "" && len(p.given("confirm")) > 0 {
		return errors.New("--confirm asks what may be noise again: expected --noise as well")
	}
	if p.save != "" {
		if err := recorder.CheckDir(p.save); err != nil {
			return fmt.Errorf("parsing --save: %v", err)
		}
	}
	return nil
}

// fromRecords is the place of old in the list of targets where it is none.
const fromRecords = -1

// sides holds which target plays which part, by their places in the list.
type sides struct {
	old   int // or fromRecords
	twin  int // old′; of no target: the old system, or each new one, is asked twice if self is set
	self  bool
	fresh []int // the new ones
}

const noTarget = -1

// measured reports whether there is an old′.
func (s *sides) measured() bool { return s.self || s.twin != noTarget }

// sides returns who is compared with whom. Where that depends on the records
// they are read, up to the last that is chosen.
func (p *params) sides(ctx context.Context, again *again) (s sides, err error) {
	s = sides{old: fromRecords, twin: noTarget, self: p.noise == report.Self}
	switch p.old {
	case report.Recorded:
	case oldByRecords:
		if s.old, err = p.oldByRecords(ctx, again); err == nil { // once, however often it is asked
			p.old = report.Recorded
			if s.old != fromRecords {
				p.old = p.targets[s.old].Name
			}
		}
	default:
		s.old, err = p.targetOf("compare", p.old, report.Recorded)
	}
	if err == nil && p.noise != "" && !s.self {
		s.twin, err = p.targetOf("noise", p.noise, report.Self)
		if err == nil && s.twin == s.old {
			err = fmt.Errorf("parsing --noise: %s is the old system itself: expected self, or a target that is its twin", p.noise)
		}
	}
	if err != nil {
		return s, err
	}
	for i := range p.targets {
		if i != s.old && i != s.twin {
			s.fresh = append(s.fresh, i)
		}
	}
	if len(s.fresh) == 0 {
		return s, errors.New("there is no target to compare: expected --to for the new system as well")
	}
	return s, nil
}

// targetOf returns the place of a target with a name that a flag has.
func (p *params) targetOf(flag, name, other string) (int, error) {
	i := slices.IndexFunc(p.targets, func(t send.Target) bool { return t.Name == name })
	if i >= 0 {
		return i, nil
	}
	names := make([]string, len(p.targets))
	for i, t := range p.targets {
		names[i] = t.Name
	}
	return 0, fmt.Errorf("parsing --%s: no target is called %s: expected %s or one of %s", flag, name, other, strings.Join(names, ", "))
}

// oldByRecords returns fromRecords if all records that are chosen have responses,
// the first target if none has.
func (p *params) oldByRecords(ctx context.Context, again *again) (int, error) {
	if again.isURL() {
		return 0, nil
	}
	stream, err := again.stream()
	if err != nil {
		return 0, err
	}
	if stream != "" {
		return 0, fmt.Errorf("whether all records of %s have responses cannot be known before they are sent: expected --compare=recorded or --compare=NAME", stream)
	}
	var with, all int
	err = again.each(ctx, func(r *recording.Request) error {
		all++
		if r.Response != nil {
			with++
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case with == all:
		return fromRecords, nil
	case with > 0:
		return 0, fmt.Errorf("%d of %d records have a response: expected --compare=recorded, for these alone, or --compare=NAME", with, all)
	case len(p.targets) == 1:
		return 0, errors.New("no record has a response, and there is one target: expected another --to to compare it with")
	}
	return 0, nil
}

// again reads the records of a run once more.
type again struct {
	*selection
	args  []string
	stdin io.Reader
}

func (a *again) isURL() bool { return source.IsURL(a.args[0]) }

// id returns by which the record is found again.
func (a *again) id(r *recording.Request) string {
	if a.isURL() {
		return "url" // there is one
	}
	return string(r.ID)
}

// stream returns the name of an input that cannot be read again, "" if there is
// none.
func (a *again) stream() (string, error) {
	if a.isURL() {
		return "", nil
	}
	_, local := partition(a.args, objects.IsURL)
	files, err := a.inputs(context.Background(), local, a.stdin, func(error) {})
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if file.Stream {
			return file.Name, nil
		}
	}
	return "", nil
}

// each calls f for the records, of a URL for one.
func (a *again) each(ctx context.Context, f func(*recording.Request) error) error {
	records, err := a.open(ctx, a.args, a.stdin, false, func(error) {})
	if err != nil {
		return err
	}
	defer records.Close()
	if records.url != nil {
		r, err := records.url.Next()
		if err != nil {
			return err
		}
		return f(r)
	}
	return a.selection.each(ctx, records, f)
}
