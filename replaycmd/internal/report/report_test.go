// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// result gives what became of a hundred requests, the last of which failed.
func result(name string, classes *Classes) Result {
	target := NewCollector(nil)
	s := target.NewBatch()
	for i := range 100 {
		due := time.Duration(i) * 10 * time.Millisecond
		sample := Sample{
			Due: due, Started: due + time.Millisecond, Ended: due + time.Duration(i+1)*time.Millisecond,
			Status: 200, Class: classes.Of([]byte("GET"), fmt.Appendf(nil, "/users/%d", i)), Sent: 100, Received: 1000,
		}
		switch i {
		case 50:
			sample.Status = 404
			sample.Class = classes.Of([]byte("GET"), []byte("/odd\x1b[31m"))
		case 99:
			sample.Status, sample.Failure = 0, "refused"
		}
		s.Add(sample)
	}
	return Result{Name: name, URL: "http://" + name, Connections: 3, Totals: target.Finish()}
}

func sampleReport(t *testing.T, names ...string) *Report {
	t.Helper()
	classes := NewClasses(ByPath)
	var results []Result
	for _, name := range names {
		results = append(results, result(name, classes))
	}
	r, err := New(Facts{Pace: "100/s", Timed: true, RateAsked: 100, Connections: 50, By: ByPath, Classes: classes}, results)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.writeText(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextOfOneTarget(t *testing.T) {
	got := text(t, sampleReport(t, "shop.test:8080"))
	for _, want := range []string{
		"                        shop.test:8080\n",
		"requests                           100\n",
		"rate asked                     100.0/s\n",
		"answers                             99\n",
		"  2xx                               98\n",
		"  4xx                                1\n",
		"errors                               1\n",
		"  refused                            1\n",
		"  p50                         50.00 ms\n",
		"late by over 10 ms            0 (0.0%)\n",
		"/users/*", `/odd\u001b[31m`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestTextFitsItsWidthWhateverTheTargets(t *testing.T) {
	names := []string{"a", "a name that is far too long to be shown in one column", "größe", "127.0.0.1:8080", "e", "f", "g", "h"}
	got := text(t, sampleReport(t, names...))
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > width || strings.HasSuffix(line, " ") {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	if strings.Count(got, "rate reached") < 2 || !strings.Contains(got, "a name that…n one column") {
		t.Errorf("got\n%s", got)
	}
}

func TestTextOfNothing(t *testing.T) {
	r, err := New(Facts{Pace: "max"}, []Result{{Totals: NewCollector(nil).Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	got := text(t, r)
	if !strings.Contains(got, "none") || strings.Contains(got, "NaN") || strings.Contains(got, "Inf") || strings.Contains(got, "service") {
		t.Errorf("got\n%s", got)
	}
}

func TestStatusesBeyondFiveHundredsAreNoServerErrors(t *testing.T) {
	target := NewCollector(nil)
	target.NewBatch().Add(Sample{Status: 700, Class: -1})
	r, err := New(Facts{Pace: "max"}, []Result{{Totals: target.Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, r); r.Targets[0].StatusClass(5) != 0 || r.Targets[0].Status["700"] != 1 || strings.Contains(got, "5xx") {
		t.Errorf("got\n%s", got)
	}
}

func TestJSONIsReadBack(t *testing.T) {
	r := sampleReport(t, "a", "b")
	r.Checks = []Check{{Condition: "p99<1s", Target: "a", Value: "99ms", OK: true}}
	var out bytes.Buffer
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	var back Report
	d := json.NewDecoder(bytes.NewReader(out.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	a := back.Targets[0]
	if back.Version != Version || len(back.Targets) != 2 || a.Requests != 100 || a.Status["404"] != 1 || a.ErrorsByKind["refused"] != 1 || !back.Checks[0].OK {
		t.Errorf("got %s", out.String())
	}
	for name, l := range map[string]Latency{"latency": a.Latency, "service": a.Service, "lateness": a.Lateness} {
		h, err := hdrhistogram.Decode([]byte(l.Histogram))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.TotalCount() != l.Count || ms(time.Duration(h.ValueAtPercentile(99))) != l.P99MS {
			t.Errorf("%s: the histogram has %d values, p99 %d", name, h.TotalCount(), h.ValueAtPercentile(99))
		}
	}
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	c := newCSV(&out, []string{"a", "b,c"})
	row := Row{Second: 3, Requests: 2, Errors: 1, Status: [6]int64{2: 1}, Late: 1, Sent: 10, Received: 20, Latency: NewHistogram(2)}
	row.Latency.Add(5 * time.Millisecond)
	c.Row(1, row)
	c.Row(0, *newRow(4))
	if err := c.Finish(nil); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(lines) != 3 || len(lines[0]) != len(lines[1]) {
		t.Fatalf("got %v, error %v", lines, err)
	}
	if got := lines[1][:12]; !slices.Equal(got, []string{"3", "b,c", "2", "1", "0", "1", "0", "0", "0", "1", "10", "20"}) {
		t.Errorf("got %v", got)
	}
	failing := newCSV(broken{}, []string{"a"})
	if failing.Finish(nil) == nil {
		t.Error("an error of writing is lost")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken") }
