// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// hostile is what a name or value may be that somebody else has chosen.
const hostile = `</td></style><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='x` + "\x1b[31m\u202e\u2028{{.Run}}"

// page returns the report as a page.
func htmlOf(t *testing.T, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.writeHTML(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// texts returns all text of a page, and what is in it that must not be.
func texts(t *testing.T, page string) (text string, faults []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			all.WriteString(n.Data + "\n")
		}
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "link", "form", "a", "base"}, n.Data) {
			faults = append(faults, "element "+n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
				faults = append(faults, "attribute "+a.Key+" of "+n.Data)
			}
		}
	}
	return all.String(), faults
}

// hostileReport has hostile text wherever a report has text of others.
func hostileReport(t *testing.T) *Report {
	t.Helper()
	classes := NewClasses(ByPath)
	collector := NewCollector(nil)
	batch := collector.NewBatch()
	for i := range 1000 {
		at := time.Duration(i) * 7 * time.Millisecond
		sample := Sample{Due: at, Started: at, Ended: at + time.Duration(1+i%50)*time.Millisecond, Status: 200 + i%7*50, Class: classes.Of(nil, fmt.Appendf(nil, "/%s/%c", hostile, 'a'+i%9))}
		if i%31 == 0 {
			sample.Status, sample.Failure = 0, "timeout"
		}
		batch.Add(sample)
	}
	counts := tally.New(tally.Options{})
	for i := range 500 {
		counts.Add(&tally.Pair{
			ID: hostile, Method: []byte("GET"), Target: fmt.Appendf(nil, "/%s?n=%d", hostile, i),
			Old:  &compare.Response{Status: 200, Duration: time.Duration(i+1) * time.Millisecond},
			New:  &compare.Response{Status: 200, Duration: time.Duration(i+2) * time.Millisecond},
			Diff: &compare.Result{Differences: []compare.Difference{{Field: hostile + "$.x", Kind: compare.Changed, Old: []byte(hostile), New: []byte(hostile)}}},
		})
	}
	facts := Facts{
		Started: time.Unix(1_800_000_000, 0).UTC(), Pace: hostile, Timed: true, Request: hostile, Problems: []string{hostile}, By: ByPath, Classes: classes,
		Run: Run{Command: hostile, Sent: []string{hostile}, Version: hostile, Machine: hostile},
	}
	r, err := New(facts, []Result{{Totals: collector.Finish(), Name: hostile, URL: hostile}})
	if err != nil {
		t.Fatal(err)
	}
	r.AddComparison(Comparison{Target: hostile, Old: hostile, Counts: counts})
	r.Checks = []Check{{Condition: hostile, Target: hostile, Value: hostile}}
	return r
}

// What others have chosen is text of the page, escaped and cut; nothing of it
// runs, and nothing is loaded.
func TestPageTakesHostileTextAsText(t *testing.T) {
	r := hostileReport(t)
	page := htmlOf(t, r)
	text, faults := texts(t, page)
	for _, fault := range faults {
		t.Error(fault)
	}
	for _, want := range []string{`</td></style><script>alert(1)</script>`, `\x1b[31m\u202e\u2028{{.Run}}`} {
		if strings.Count(text, want) < 6 {
			t.Errorf("%q is %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
	for _, never := range []string{"\x1b", "\u202e", "\u2028", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	r.Targets[0].Name = strings.Repeat("ä", 300)
	if text, _ := texts(t, htmlOf(t, r)); !strings.Contains(text, "ä… (and 180 characters more)") || strings.Contains(text, strings.Repeat("ä", 121)) {
		t.Errorf("a long name is not cut in\n%s", text)
	}
}

// A page that is drawn from JSON again is the same page.
func TestPageOfARestoredReport(t *testing.T) {
	for name, r := range map[string]*Report{"hostile": hostileReport(t), "plain": sampleReport(t, "a", "b")} {
		var out bytes.Buffer
		if err := r.writeJSON(&out); err != nil {
			t.Fatal(err)
		}
		back, err := Read(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := htmlOf(t, back), htmlOf(t, r); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// What differs comes before what was slow, and is in short at the top. A run of a
// second has nothing over time.
func TestPageHasWhatDiffersFirst(t *testing.T) {
	r := sampleReport(t, "old", "new")
	r.Comparisons = []Comparison{{Target: "new", Old: "old", Counts: tally.New(tally.Options{})}}
	for i := range 5 {
		r.Differences = append(r.Differences, Difference{"new", tally.Row{Endpoint: "GET /orders/*", Field: fmt.Sprintf("$.f%d", i), Class: tally.Differs}})
	}
	page := htmlOf(t, r)
	text, _ := texts(t, page)
	if !strings.Contains(text, ": GET /orders/* $.f0, GET /orders/* $.f1, GET /orders/* $.f2\n") {
		t.Errorf("what differs is not in short in\n%s", text)
	}
	if differ, targets := strings.Index(page, "<h2>Differences of"), strings.Index(page, "<h2>Targets</h2>"); differ < 0 || differ > targets {
		t.Errorf("what differs is at %d, targets are at %d", differ, targets)
	}
	if !strings.Contains(page, "Requests over time") {
		t.Error("there is nothing over time")
	}
	for i := range r.Targets {
		r.Targets[i].Timeline = r.Targets[i].Timeline[:1]
	}
	if strings.Contains(htmlOf(t, r), "over time</strong>") {
		t.Error("a single second is drawn over time")
	}
}

// Many late requests are said once of all targets for which they have one reason.
func TestLateRequestsAreSaidOnce(t *testing.T) {
	r := &Report{Targets: []Target{
		{Name: "a", Requests: 1000, Late: 100, LateBusy: 10},
		{Name: "b", Requests: 100, Late: 20},
		{Name: "c", Requests: 100, Late: 20, LateBusy: 11},
		{Name: "d", Requests: 1000, Late: 9},
		{Name: "e", Requests: 100, Late: 20, LateBusy: 1, LateWaiting: 11},
		{Name: "f"},
	}}
	const want = "c: 20.0% of the requests started late, most because all connections were busy\n" +
		"e: 20.0% of the requests started late, most because they waited for the answers to others\n" +
		"2 targets: up to 20.0% of the requests started late, most because this machine was busy, so that figures say less of the target"
	if got := strings.Join(r.heldUp(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPageOfMuchIsBounded(t *testing.T) {
	names := make([]string, 40)
	for i := range names {
		names[i] = fmt.Sprintf("target-%d", i)
	}
	r := sampleReport(t, names...)
	for i := range 1000 {
		r.Checks = append(r.Checks, Check{Condition: fmt.Sprintf("p%d<1s", i), OK: true})
	}
	text, _ := texts(t, htmlOf(t, r))
	for _, want := range []string{"And 28 more targets", "And 800 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "target-30") {
		t.Error("a target beyond the limit is there")
	}
}

func TestVerdicts(t *testing.T) {
	of := func(requests, unsent, errors int64) []Target {
		return []Target{{Name: "a", Requests: requests, Unsent: unsent, Errors: errors}}
	}
	for _, tc := range []struct {
		report Report
		want   string
	}{
		{Report{}, "{incomplete [nothing was sent]}"},
		{Report{Interrupted: true}, "{not judged [the run was interrupted no condition was given]}"},
		{Report{Interrupted: true, Targets: []Target{{Requests: 2, Interrupted: 2}}, Checks: []Check{{Condition: "errors=0", OK: true}}}, "{incomplete [the run was interrupted before there was anything to judge]}"},
		{Report{Interrupted: true, Targets: []Target{{Requests: 3, Interrupted: 2, Answers: 1}}, Checks: []Check{{Condition: "errors=0", OK: true}}}, "{passed [the condition holds the run was interrupted]}"},
		{Report{Targets: of(5, 0, 0), Incomplete: []string{"2 answers were lost"}, Checks: []Check{{Condition: "errors=0", OK: true}}}, "{incomplete [2 answers were lost]}"},
		{Report{Targets: of(5, 0, 0)}, "{not judged [all requests were answered no condition was given]}"},
		{Report{Targets: of(5, 0, 0), Checks: []Check{{Condition: "p99<1s", OK: true}}}, "{passed [the condition holds all requests were answered]}"},
		{Report{Targets: of(5, 2, 1)}, "{incomplete [a: 2 of 7 requests were not started in time a: 1 of 7 requests have no answer]}"},
		{Report{Targets: []Target{{Name: "a", Requests: 5, Unsent: 1, Unlinked: 2}}}, "{incomplete [a: 2 of 8 requests were not sent, since what they need was in no answer a: 1 of 8 requests were not started in time]}"},
		{Report{Targets: of(5, 2, 1), Checks: []Check{{Condition: "errors<9", OK: true}}}, "{passed [the condition holds errors are within what is allowed]}"},
		{
			Report{Targets: of(5, 0, 1), Checks: []Check{{Condition: "p99<1s", OK: true}, {Condition: "rate>5/s", Target: "a", Value: "4.0/s"}}},
			"{failed [a: rate>5/s does not hold: it is 4.0/s a: 1 of 5 requests have no answer]}",
		},
		{Report{Targets: []Target{{Name: "a", Requests: 5, Unlinked: 2}}, Checks: []Check{{Condition: "p99<1s", OK: true}}}, "{incomplete [a: 2 of 7 requests were not sent, since what they need was in no answer]}"},
		{Report{Targets: []Target{{Name: "a", Unlinked: 2}}, Checks: []Check{{Condition: "unlinked<9", OK: true}, {Condition: "5xx=0", OK: true}}}, "{passed [both conditions hold all requests were answered]}"},
		{Report{Targets: of(5, 0, 0), Problems: []string{"x"}}, "{incomplete [part of the recording could not be read]}"},
	} {
		if got := fmt.Sprint(tc.report.Verdict()); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
