// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// output is a report that is asked for.
type output struct {
	form report.Form
	file string // empty: standard output
}

// parseOutputs reads forms of reports, each with its file, between commas. A
// comma may also be part of a file's name, if what follows it can only be that.
func parseOutputs(text string) (outputs []output, err error) {
	for word := range strings.SplitSeq(text, ",") {
		o, err := parseOutput(word)
		switch last := len(outputs) - 1; {
		case err == nil:
			outputs = append(outputs, o)
		case last >= 0 && outputs[last].file != "" && strings.ContainsAny(word, "./\\"):
			outputs[last].file += "," + word
		default:
			return nil, err
		}
	}
	return outputs, nil
}

func parseOutput(text string) (output, error) {
	name, file, named := strings.Cut(text, "=")
	form, err := report.FormOf(name)
	if err != nil {
		return output{}, err
	}
	if named && file == "" {
		return output{}, fmt.Errorf("'%s' names no file: expected one like %[1]srun.%s", text, form.Name)
	}
	return output{form, file}, nil
}

// outputs are the reports of a run, opened before its first request.
type outputs struct {
	sinks, rows []report.Sink // all of them, and those that need the seconds
	files       []*os.File
	stored      []*storedReport
	shown       bool // people read one on standard output
}

// open opens the reports that are asked for; without any it is the text, unless
// the run is to be quiet or prints pairs instead.
func (p *params) open(stdout io.Writer, targets []string, pairs bool) (*outputs, error) {
	return openOutputs(p.reports, stdout, targets, p.quiet || pairs)
}

// openOutputs opens reports; without any it is the text, unless the run is quiet.
func openOutputs(asked []output, stdout io.Writer, targets []string, quiet bool) (*outputs, error) {
	if len(asked) == 0 && !quiet {
		text, err := parseOutput("text")
		if err != nil {
			return nil, err
		}
		asked = []output{text}
	}
	o := new(outputs)
	for _, a := range asked {
		w := stdout
		if objects.IsURL(a.file) {
			stored, err := openStored(a.file)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("opening report: %v", err), o.close())
			}
			o.stored = append(o.stored, stored)
			w = stored
		} else if a.file != "" {
			file, err := os.Create(a.file)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("opening report: %v", err), o.close())
			}
			o.files = append(o.files, file)
			w = file
		} else if a.form.Text {
			o.shown = true
		}
		sink := a.form.Open(w, targets)
		o.sinks = append(o.sinks, sink)
		if a.form.Rows {
			o.rows = append(o.rows, sink)
		}
	}
	return o, nil
}

// row writes one second of a target.
func (o *outputs) row(target int, row report.Row) {
	for _, sink := range o.rows {
		sink.Row(target, row)
	}
}

// finish writes the reports of the whole run.
func (o *outputs) finish(r *report.Report) error {
	errs := make([]error, 0, len(o.sinks)+1)
	for _, sink := range o.sinks {
		errs = append(errs, sink.Finish(r))
	}
	for _, stored := range o.stored {
		ctx, cancel := context.WithTimeout(context.Background(), storedPatience)
		errs = append(errs, stored.upload(ctx, time.Sleep))
		cancel()
	}
	errs = append(errs, o.close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("writing report: %v", err)
	}
	return nil
}

func (o *outputs) close() error {
	errs := make([]error, 0, len(o.files)+len(o.stored))
	for _, file := range o.files {
		errs = append(errs, file.Close())
	}
	for _, stored := range o.stored {
		errs = append(errs, stored.bucket.Close())
	}
	return errors.Join(errs...)
}
