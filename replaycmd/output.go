// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// output is a report that is asked for.
type output struct {
	form string // text, json or csv
	file string // empty: standard output
}

func parseOutput(text string) (output, error) {
	form, file, named := strings.Cut(text, "=")
	switch form {
	case "text", "json", "csv":
	default:
		return output{}, fmt.Errorf("'%s' is not a form of report: expected text, json or csv", form)
	}
	if named && file == "" {
		return output{}, fmt.Errorf("'%s' names no file", text)
	}
	return output{form, file}, nil
}

// outputs are the reports of a run, opened before its first request.
type outputs struct {
	text, json []io.Writer
	csv        []*report.CSV
	files      []*os.File
}

// open opens the reports that are asked for; without any it is the text, unless
// the run is to be quiet.
func (p *params) open(stdout io.Writer, targets []string) (*outputs, error) {
	asked := p.reports
	if len(asked) == 0 && !p.quiet {
		asked = []output{{form: "text"}}
	}
	o := new(outputs)
	for _, a := range asked {
		w := stdout
		if a.file != "" {
			file, err := os.Create(a.file)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("opening report: %v", err), o.close())
			}
			o.files = append(o.files, file)
			w = file
		}
		switch a.form {
		case "text":
			o.text = append(o.text, w)
		case "json":
			o.json = append(o.json, w)
		case "csv":
			o.csv = append(o.csv, report.NewCSV(w, targets))
		}
	}
	return o, nil
}

// write writes the reports of the whole run.
func (o *outputs) write(r *report.Report) error {
	errs := make([]error, 0, len(o.text)+len(o.json)+len(o.csv)+1)
	for _, w := range o.text {
		errs = append(errs, r.Text(w))
	}
	for _, w := range o.json {
		errs = append(errs, r.JSON(w))
	}
	for _, c := range o.csv {
		errs = append(errs, c.Err())
	}
	errs = append(errs, o.close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("writing report: %v", err)
	}
	return nil
}

func (o *outputs) close() error {
	errs := make([]error, 0, len(o.files))
	for _, file := range o.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
