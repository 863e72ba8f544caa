// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// redrawing is what the flags of `caddy replay report` say.
type redrawing struct {
	reports    []output
	conditions []report.Condition
	baseline   *report.Report
	quiet      bool
}

// reportCommand returns the command `caddy replay report`.
func reportCommand() *cobra.Command {
	return complete(&cobra.Command{
		Use:   "report [flags] <report.json|s3://...>...|-",
		Short: "Draws and judges the report of a run again, or adds up its shards",
		Long: `
Reads the report of a run that --report json has written, and writes it in any
other form but csv, whose seconds only a run has.

Several reports are those of all shards of one run, as --shard has them sent.
They are added up as if one machine had sent all: histograms bucket by bucket,
comparisons with every test made anew, and the conditions judged on the whole.

Conditions of --fail take the place of those of the run. With --baseline they
may be about an earlier run as well, like 'p99<1.1x baseline'. The exit status
is that of the run: 0, 3 if it was incomplete, 4 if a condition does not hold,
and 1 if the report cannot be read.

The URL of an object store like s3://bucket/reports/ stands for all reports
below it. A report named like a command of replay is ./NAME.

` + docs,
		Example: `  caddy replay report run.json --report html=run.html
  caddy replay report run.json --baseline old.json --fail 'p99<1.1x baseline'
  caddy replay report shards/*.json --report text,html=whole.html`,
	}, new(redrawing))
}

func (p *redrawing) define(flags *pflag.FlagSet) {
	defineReports(flags, report.FormNames(false), &p.reports, &p.conditions, &p.baseline)
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "Print only errors, and the reports that --report asks for")
}

// defineReports adds the flags about what becomes of a report, in one of some forms.
func defineReports(flags *pflag.FlagSet, forms string, reports *[]output, conditions *[]report.Condition, baseline **report.Report) {
	flags.Var(lists(reports, "FORM[=FILE]", parseOutputs), "report", "Form of the report, "+forms+", and where it goes (repeatable, default text)")
	flags.Var(several(conditions, "CONDITION", report.ParseCondition), "fail", "Exit with status 4 unless this holds of every target, like 'p99<250ms' or 'errors<0.1%' (repeatable)")
	flags.Var(single(baseline, "FILE", readReport).once(), "baseline", "Report of an earlier run, as JSON, for conditions like 'p99<1.1x baseline'")
}

// maxReport bounds a report that is read, in bytes.
const maxReport = 512 << 20

// readReport reads the report in a file, or an object store.
func readReport(name string) (*report.Report, error) {
	if objects.IsURL(name) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		bucket, found, err := objectsAt(ctx, name, isReportName)
		switch {
		case err != nil:
			return nil, err
		case len(found) != 1:
			return nil, fmt.Errorf("'%s' has %d reports: expected the name of one", withoutOptions(name), len(found))
		}
		return readStored(ctx, bucket, found[0])
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readReportFrom(name, file)
}

func isReportName(name string) bool { return strings.HasSuffix(name, ".json") }

func readStored(ctx context.Context, bucket *objects.Bucket, object objects.Object) (*report.Report, error) {
	content := bucket.Reader(ctx, object.Key, object.Size)
	defer content.Close()
	return readReportFrom(object.Name, content)
}

// readStoredReports reads all reports that the URL of an object store stands for.
func readStoredReports(ctx context.Context, url string) (all []*report.Report, names []string, err error) {
	bucket, found, err := objectsAt(ctx, url, isReportName)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("'%s' has no report: expected objects named *.json", withoutOptions(url))
	}
	for _, object := range found {
		r, err := readStored(ctx, bucket, object)
		if err != nil {
			return nil, nil, err
		}
		all, names = append(all, r), append(names, object.Name)
	}
	return all, names, nil
}

// readReports reads one report, or those of all shards of a run, which become one.
func readReports(ctx context.Context, args []string, stdin io.Reader) (*report.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all []*report.Report
	var names []string
	for _, arg := range args {
		read, from := []*report.Report{nil}, []string{arg}
		var err error
		switch {
		case objects.IsURL(arg):
			read, from, err = readStoredReports(ctx, arg)
		case arg == stdinArg:
			read[0], err = readReportFrom("standard input", stdin)
		default:
			read[0], err = readReport(arg)
		}
		if err != nil {
			return nil, err
		}
		all, names = append(all, read...), append(names, from...)
	}
	if len(all) == 1 && all[0].Shard == nil {
		return all[0], nil
	}
	return report.Merge(all, names)
}

func readReportFrom(name string, from io.Reader) (*report.Report, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxReport+1))
	if err == nil && len(data) > maxReport {
		err = fmt.Errorf("report is larger than %d bytes", maxReport)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	r, err := report.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	return r, nil
}

// checkBaseline refuses conditions about a baseline where there is none.
func checkBaseline(conditions []report.Condition, baseline *report.Report) error {
	for _, c := range conditions {
		if c.OfBaseline() && baseline == nil {
			return fmt.Errorf("--fail '%s' is about an earlier run: expected --baseline FILE", c)
		}
	}
	return nil
}

// checkAsked refuses conditions about what the run was not asked for, which nothing
// could break: a comparison, or following conversations.
func checkAsked(conditions []report.Condition, r *report.Report) error {
	for _, c := range conditions {
		switch {
		case c.OfComparison() && len(r.Comparisons) == 0:
			return fmt.Errorf("--fail '%s' is about comparing: expected the report of a run with --compare", c)
		case c.OfUnlinked() && !r.Conversing():
			return fmt.Errorf("--fail '%s' is about conversations: expected the report of a run with --links", c)
		}
	}
	return nil
}

// run writes and judges the report again.
func (p *redrawing) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 {
		return exitNotStarted, errors.New("no report is given: expected one, written by --report json, or those of all shards of a run")
	}
	if err := errors.Join(checkBaseline(p.conditions, p.baseline), checkOutputs(p.reports)); err != nil {
		return exitNotStarted, err
	}
	for _, o := range p.reports {
		if o.form.Rows {
			return exitNotStarted, fmt.Errorf("--report %s needs the seconds of a run: expected another form", o.form.Name)
		}
	}
	r, err := readReports(cmd.Context(), args, cmd.InOrStdin())
	if err != nil {
		return exitNotStarted, err
	}
	if err := checkAsked(p.conditions, r); err != nil {
		return exitNotStarted, err
	}
	if p.baseline != nil {
		r.SetBaseline(p.baseline)
	}
	if len(p.conditions) > 0 {
		r.Checks, r.JudgedAgain = []report.Check{}, true
		r.Judge(p.conditions)
	}
	names := make([]string, len(r.Targets))
	for i, t := range r.Targets {
		names[i] = t.Name
	}
	outputs, err := openOutputs(p.reports, cmd.OutOrStdout(), names, p.quiet)
	if err != nil {
		return exitNotStarted, err
	}
	if err := outputs.finish(r); err != nil {
		return exitIncomplete, err
	}
	return verdictStatus(r.Verdict(), outputs.shown)
}

// verdictStatus returns the exit status of a report, and why it is not 0 unless
// that was shown.
func verdictStatus(v report.Verdict, shown bool) (int, error) {
	var err error
	if !shown && len(v.Reasons) > 0 {
		err = errors.New(v.Reasons[0])
	}
	switch v.Outcome {
	case report.Failed:
		return exitFailed, err
	case report.Incomplete:
		return exitIncomplete, errors.New(v.Reasons[0])
	case report.Passed, report.NotJudged:
	}
	return caddy.ExitCodeSuccess, nil
}

// checkOutputs refuses two reports that go to one place.
func checkOutputs(outputs []output) error {
	for i, o := range outputs {
		if slices.ContainsFunc(outputs[:i], func(other output) bool { return other.file == o.file }) {
			where := o.file
			if where == "" {
				where = "standard output"
			}
			return fmt.Errorf("two reports go to %s: give one a file, like --report json=run.json", where)
		}
	}
	return nil
}
