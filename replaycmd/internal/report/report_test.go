// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// result is what became of a hundred requests, the last of which failed.
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
		"/users/*", `/odd\x1b[31m`,
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

// What a report says and how it is judged is the same after it was read from its
// JSON.
func TestAReportIsRestored(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`: "it is no report", "null": "it is no report", `{"version":99}`: "report is of version 99: expected 1", "[]": "report is not valid",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", text, err)
		}
	}
	r := sampleReport(t, "a", "b")
	var conditions []Condition
	for _, text := range []string{
		"p12.5<7ms", "p50<50ms", "p99<98ms", "p99.9<1s", "p100<1s", "max<1s", "errors<1", "errors<5%", "late=0", "2xx>97%", "4xx=1", "5xx<1", "rate>5/s",
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	var out bytes.Buffer
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	back, err := Read(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	r.Judge(conditions)
	back.Judge(conditions)
	if text(t, back) != text(t, r) || !slices.Equal(back.Checks, r.Checks) {
		t.Errorf("got\n%s\nwant\n%s", text(t, back), text(t, r))
	}
	for i := range back.Targets[0].By {
		a, b := &r.Targets[0].By[i], &back.Targets[0].By[i]
		if a.Latency.At(75) != b.Latency.At(75) || a.Latency.Max() != b.Latency.Max() || !maps.Equal(a.StatusClasses, b.StatusClasses) {
			t.Errorf("class %s: got %+v, want %+v", a.Name, b, a)
		}
	}
	for _, text := range []string{"", "{}", `{"version":99}`, `{"version":1,"targets":[{"latency":{"count":1,"histogram":"nonsense"}}]}`} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The fields that the documentation lists are there also where they are empty.
func TestJSONHasAllItsFields(t *testing.T) {
	r, err := New(Facts{Pace: "max"}, []Result{{Totals: NewCollector(nil).Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"problems": []`, `"checks": []`, `"errors_by_kind": {}`, `"status": {}`, `"answer_rate": 0`, `"late_busy": 0`, `"timed": false`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
	if back, err := Read(out.Bytes()); err != nil || back.Targets[0].Latency.Max() != 0 || back.Targets[0].Latency.At(50) != 0 {
		t.Errorf("error %v", err)
	}
}

func TestEachClassOfStatusHasItsRow(t *testing.T) {
	target := NewCollector(nil)
	classes := NewClasses(ByPath)
	for i, status := range []int{101, 200, 302, 404, 500} {
		for range i + 1 {
			target.NewBatch().Add(Sample{Status: status, Class: classes.Of(nil, fmt.Appendf(nil, "/p%d", status))})
		}
	}
	target.NewBatch().Add(Sample{Failure: "refused", Class: classes.Of(nil, []byte("/gone"))})
	r, err := New(Facts{Pace: "max", By: ByPath, Classes: classes}, []Result{{Totals: target.Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	got := text(t, r)
	fields := strings.Join(strings.Fields(got), " ")
	for _, want := range []string{
		"answers 15 1xx 1 2xx 2 3xx 3 4xx 4 5xx 5 errors 1 refused 1",
		"requests errors 1xx 2xx 3xx 4xx 5xx", "/p404 4 0 0 0 0 4 0 0.00 ms", "/gone 1 1 0 0 0 0 0 none",
	} {
		if !strings.Contains(fields, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if c := r.Targets[0].By[0]; c.Name != "/p500" || c.StatusClasses["5xx"] != 5 {
		t.Errorf("got %+v", c)
	}
}

func TestRates(t *testing.T) {
	target := NewCollector(nil)
	for i := range 4 { // one a second, the last of them refused
		at := time.Duration(i) * time.Second
		sample := Sample{Due: at, Started: at, Ended: at + 5*time.Millisecond, Status: 200, Class: -1}
		if i == 3 {
			sample.Status, sample.Failure = 0, "refused"
		}
		target.NewBatch().Add(sample)
	}
	totals := target.Finish()
	for asked, want := range map[float64]string{1: "1.00 0.75", 0: "1.33 1.00"} {
		r, err := New(Facts{RateAsked: asked}, []Result{{Totals: totals, Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.2f %.2f", r.Targets[0].Rate, r.Targets[0].AnswerRate); got != want {
			t.Errorf("asked for %v/s: reached %s, want %s", asked, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"plain größe €":      "plain größe €",
		"\x1b]0;x\x07":       `\x1b]0;x\x07`,
		"a\u009bb\x7f":       `a\u009bb\u007f`,
		"\xff\xfea":          `\xff\xfea`,
		"\u202eevil":         `\u202eevil`,
		"\U000e0041":         `\udb40\udc41`,
		"\ufffd kept":        "\ufffd kept",
		"line\nbreak\tand\r": `line\x0abreak\x09and\x0d`,
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	var out bytes.Buffer
	if n, err := io.WriteString(Escaping(&out), "a\n\tb\x1b"); n != 5 || err != nil || out.String() != "a\n\tb\\x1b" {
		t.Errorf("wrote %q, %d, error %v", out.String(), n, err)
	}
	classes := NewClasses(ByPath)
	target := NewCollector(nil)
	target.NewBatch().Add(Sample{Status: 200, Class: classes.Of(nil, []byte("/\u009b\x1b\x7f\xff"))})
	r, err := New(Facts{By: ByPath, Classes: classes}, []Result{{Totals: target.Finish(), Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := r.writeJSON(&out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x7f\u009b") {
		t.Errorf("JSON has control characters: %q", out.String())
	}
	if back, err := Read(out.Bytes()); err != nil || back.Targets[0].By[0].Name != "/\u009b\x1b\x7f\ufffd" {
		t.Errorf("error %v", err)
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
	if got := lines[1][15]; got != "5.000" {
		t.Errorf("the longest is %s ms", got)
	}
	if got := lines[2][12:16]; !slices.Equal(got, []string{"", "", "", ""}) {
		t.Errorf("a second without an answer has %v", got)
	}
	failing := newCSV(broken{}, []string{"a"})
	if failing.Finish(nil) == nil {
		t.Error("an error of writing is lost")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("broken") }
