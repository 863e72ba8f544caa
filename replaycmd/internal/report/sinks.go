// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sink writes a report in one form to one place.
type Sink interface {
	// Row takes one second of the target with the given number, when it is over.
	// It may be called for several targets at once.
	Row(target int, row Row)
	// Finish takes the whole report at the end of the run and returns the first
	// error of writing.
	Finish(*Report) error
}

// Form is a form of report.
type Form struct {
	Name string
	Text bool // it is for people to read
	Rows bool // it needs the seconds of a run
	Open func(w io.Writer, targets []string) Sink
}

// forms has all there are: a new one needs its line here and its own file.
var forms = []Form{
	{Name: "text", Text: true, Open: func(w io.Writer, _ []string) Sink { return atEnd{w, (*Report).writeText} }},
	{Name: "json", Open: func(w io.Writer, _ []string) Sink { return atEnd{w, (*Report).writeJSON} }},
	{Name: "csv", Rows: true, Open: newCSV},
	{Name: "junit", Open: func(w io.Writer, _ []string) Sink { return atEnd{w, (*Report).writeJUnit} }},
	{Name: "markdown", Text: true, Open: func(w io.Writer, _ []string) Sink { return atEnd{w, (*Report).writeMarkdown} }},
	{Name: "html", Open: func(w io.Writer, _ []string) Sink { return atEnd{w, (*Report).writeHTML} }},
}

// FormNames returns the names of forms, as help and messages list them: of all of
// them, or of those that a report is enough for.
func FormNames(all bool) string {
	var names []string
	for _, f := range forms {
		if all || !f.Rows {
			names = append(names, f.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// FormOf returns the form with a name.
func FormOf(name string) (Form, error) {
	for _, f := range forms {
		if f.Name == name {
			return f, nil
		}
	}
	return Form{}, fmt.Errorf("'%s' is not a form of report: expected %s", name, FormNames(true))
}

// atEnd is a sink that needs only the whole report.
type atEnd struct {
	w     io.Writer
	write func(*Report, io.Writer) error
}

func (atEnd) Row(int, Row) {}

func (a atEnd) Finish(r *Report) error { return a.write(r, a.w) }

func (r *Report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(Escaping(w)) // JSON leaves some control characters as they are
	e.SetIndent("", "\t")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// csvSink writes a line for every second of a run and each of its targets.
type csvSink struct {
	mu      sync.Mutex
	w       *csv.Writer
	targets []string // their names
}

var columns = []string{
	"second", "target", "requests", "errors", "1xx", "2xx", "3xx", "4xx", "5xx", "late",
	"bytes_sent", "bytes_received", "p50_ms", "p90_ms", "p99_ms", "max_ms", "unlinked",
}

func newCSV(w io.Writer, targets []string) Sink {
	c := &csvSink{w: csv.NewWriter(w), targets: targets}
	c.write(columns...)
	return c
}

func (c *csvSink) Row(target int, row Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fields := append(make([]string, 0, len(columns)), strconv.Itoa(row.Second), c.targets[target])
	for _, n := range []int64{
		row.Requests, row.Errors, row.Status[1], row.Status[2], row.Status[3], row.Status[4], row.Status[5],
		row.Late, row.Sent, row.Received,
	} {
		fields = append(fields, strconv.FormatInt(n, 10))
	}
	for _, d := range []time.Duration{row.Latency.At(50), row.Latency.At(90), row.Latency.At(99), row.Latency.Max()} {
		field := "" // unknown, not 0, where nothing was answered
		if row.Latency.Count() > 0 {
			field = strconv.FormatFloat(ms(d), 'f', 3, 64)
		}
		fields = append(fields, field)
	}
	c.write(append(fields, strconv.FormatInt(row.Unlinked, 10))...)
}

func (c *csvSink) write(fields ...string) {
	c.w.Write(fields) //nolint:errcheck // Finish returns it
	c.w.Flush()
}

func (c *csvSink) Finish(*Report) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.Error()
}
