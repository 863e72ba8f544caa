// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/learn"
	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// learnCommand returns the command `caddy replay learn`.
func learnCommand() *cobra.Command {
	return complete(&cobra.Command{
		Use:   "learn [flags] <recording|folder|pattern>...",
		Short: "Makes a simulator of recorded conversations",
		Long: `
Writes what a service answered as a simulator that answers so again: its routes,
how often which status came and how long it took, what broke, and when that
changed, so that an incident plays again at its own pace.

The recordings need responses, as a tee with record or a simulator with on_miss
and record keep them. They are read twice, and a third time to grade: each
request is given to the learned simulator in this process, and the figures are
what a condition of --fail is about:

  match   the share of requests that got a response as the recording has one of
          their kind: match>=0.95
  mix     the greatest error of a route's mix of statuses: mix<0.02
  ks      the greatest distance of a route's latencies, between 0 and 1: ks<0.1

The exit status is 0 when it was learned; 1 if it could not be; 3 if part of a
recording could not be read; 4 if a condition of --fail does not hold.`,
		Example: `  caddy replay learn recordings/
  caddy replay learn -o shop/Caddyfile --fail 'match>=0.95' recordings/
  caddy replay learn --as wiremock -o stubs/mappings/shop.json recordings/`,
	}, new(learning))
}

// learning is what the flags of learn say.
type learning struct {
	selection
	output   string
	form     string
	name     string
	noStages bool
	speed    float64
	fail     []gradeCondition
}

func (l *learning) define(flags *pflag.FlagSet) {
	l.form, l.name, l.speed = formCaddyfile, "learned", 1
	flags.VarP(single(&l.output, "FILE", parseText), "output", "o", "Write to this file, and long bodies to __files beside it (default -, standard output)")
	flags.Var(single(&l.form, "FORM", parseLearnForm), "as", "What is written: caddyfile, recipe or wiremock (default caddyfile)")
	flags.Var(single(&l.name, "NAME", parseSimulatorName), "name", "What the names of the simulators begin with (default learned)")
	flags.BoolVar(&l.noStages, "no-stages", false, "Leave out when errors and latency changed")
	flags.Var(single(&l.speed, "SPEED", parseLearnSpeed), "speed", "Play stages and latencies faster or slower: 2x is twice as fast (default 1x)")
	flags.Var(several(&l.fail, "CONDITION", parseGradeCondition), "fail", "A condition of the grade, like 'match>=0.95' (repeatable)")
	l.selection.define(flags)
}

const (
	formCaddyfile = "caddyfile"
	formRecipe    = "recipe"
	formWireMock  = "wiremock"
)

func parseLearnForm(text string) (string, error) {
	if text != formCaddyfile && text != formRecipe && text != formWireMock {
		return "", fmt.Errorf("'%s' is not a form: expected caddyfile, recipe or wiremock", text)
	}
	return text, nil
}

var simulatorName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,60}$`)

func parseSimulatorName(text string) (string, error) {
	if !simulatorName.MatchString(text) {
		return "", fmt.Errorf("'%s' is not a name: expected letters, digits, _, . and -", text)
	}
	return text, nil
}

func parseLearnSpeed(text string) (float64, error) {
	speed, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(speed >= 0.001 && speed <= 1000) {
		return 0, fmt.Errorf("'%s' is not a speed from 0.001x to 1000x", text)
	}
	return speed, nil
}

// run reads, learns, writes and grades.
func (l *learning) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) == 0 || source.IsURL(args[0]) {
		return exitNotStarted, errors.New("nothing to learn from: expected a recording, a folder or a pattern")
	}
	if len(l.fail) > 0 && !canGrade() {
		return exitNotStarted, errors.New("--fail: not graded: this build has no simulator")
	}
	if l.output == stdinArg {
		l.output = ""
	}
	if l.output != "" {
		if err := checkOutput(l.output); err != nil {
			return exitNotStarted, err
		}
	}
	ctx, stop, notes := begin(cmd)
	defer stop()
	reading := &rereading{selection: &l.selection, args: args, stdin: cmd.InOrStdin(), notes: notes}
	survey := learn.NewSurvey()
	if err := reading.each(ctx, func(r *recording.Request) error { survey.Add(r); return nil }); err != nil {
		return exitNotStarted, beforeStart(err)
	}
	plan, err := survey.Plan()
	if err != nil {
		return exitNotStarted, err
	}
	learner := learn.NewLearner(plan)
	if err := reading.each(ctx, func(r *recording.Request) error { learner.Add(r); return nil }); err != nil {
		return exitNotStarted, err
	}
	options := learn.Options{Stages: !l.noStages, Speed: l.speed}
	model, err := learner.Model(options)
	if err != nil {
		return exitNotStarted, err
	}
	if err := l.write(cmd.OutOrStdout(), model); err != nil {
		return exitNotStarted, err
	}
	errs := report.Escaping(cmd.ErrOrStderr())
	for _, what := range model.Replaced {
		fmt.Fprintln(errs, "replaced:", what)
	}
	for _, what := range slices.Compact(model.Notes) {
		fmt.Fprintln(errs, "note:", what)
	}
	status := caddy.ExitCodeSuccess
	if !canGrade() {
		fmt.Fprintln(errs, "not graded: this build has no simulator")
	} else {
		g := newGrade(l, learner, model, options)
		if err := reading.each(ctx, g.add); err != nil {
			return exitNotStarted, fmt.Errorf("grading: %w", err)
		}
		g.print(errs)
		if !g.judge(errs, l.fail) {
			status = exitFailed
		}
	}
	if reading.unreadable && status == caddy.ExitCodeSuccess {
		status = exitIncomplete
	}
	return status, nil
}

// write writes the model in its form, and the bodies beside it.
func (l *learning) write(out io.Writer, model *learn.Model) error {
	folder := l.folder()
	files := &learn.Files{Folder: filepath.ToSlash(folder)}
	text := formOf(l.form, l.name, model, files)
	if l.output == "" {
		_, err := out.Write(text)
		return err
	}
	folders := []string{filepath.Dir(l.output)}
	if len(files.Content) > 0 {
		folders = append(folders, folder)
	}
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // read by a server
			return fmt.Errorf("-o: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files.Content)) {
		if err := os.WriteFile(filepath.Join(folder, name), files.Content[name], 0o644); err != nil { //nolint:gosec // read by a server
			return fmt.Errorf("-o: %w", err)
		}
	}
	if err := os.WriteFile(l.output, text, 0o644); err != nil { //nolint:gosec // read by a server
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// folder returns where bodies are written to, empty if they are not.
func (l *learning) folder() string {
	switch dir := filepath.Dir(l.output); {
	case l.output == "":
		return ""
	case l.form == formWireMock && filepath.Base(dir) == "mappings":
		return filepath.Join(filepath.Dir(dir), "__files")
	default:
		return filepath.Join(dir, "__files")
	}
}

func formOf(form, name string, model *learn.Model, files *learn.Files) []byte {
	switch form {
	case formRecipe:
		return model.Recipe(files)
	case formWireMock:
		return model.WireMock(files)
	}
	return model.Caddyfile(name, files)
}

// rereading reads the same recordings several times.
type rereading struct {
	selection  *selection
	args       []string
	stdin      io.Reader
	notes      *notes
	again      bool
	unreadable bool
}

func (r *rereading) each(ctx context.Context, f func(*recording.Request) error) error {
	note := func(err error) {
		r.unreadable = true
		r.notes.note(err)
	}
	if r.again {
		note = func(error) {} // it has the same to say
	}
	_, local := partition(r.args, objects.IsURL)
	files, err := r.selection.inputs(ctx, local, r.stdin, note)
	if err != nil {
		return err
	}
	for _, file := range files {
		if file.Stream {
			return fmt.Errorf("learn cannot read %s a second time: it is no file", file.Name)
		}
	}
	r.again = true
	records, err := r.selection.open(ctx, r.args, r.stdin, false, note)
	if err != nil {
		return err
	}
	defer records.Close()
	return r.selection.each(ctx, records, f)
}
