// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
)

// What was found is in every form, also of a report that was read again.
func TestFoundRateIsInEveryForm(t *testing.T) {
	r := &Report{Version: Version, Found: &FoundRate{
		Conditions: []string{"p99<250ms", "errors<0.1%"}, Rate: 203.4, Below: 207.9, Limit: "machine",
		Tried: []Tried{{Rate: 100, Held: true, AnswerRate: 99.8, P50MS: 1.5, P99MS: 20}, {Rate: 207.9, Errors: 3, Why: "p99<250ms is <b>300ms"}},
	}}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back := new(Report)
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := back.writeText(&text); err != nil {
		t.Fatal(err)
	}
	page, faults := texts(t, htmlOf(t, back))
	if len(faults) > 0 {
		t.Errorf("in the page: %v", faults)
	}
	var junit, markdown bytes.Buffer
	if err := errors.Join(back.writeJUnit(&junit), back.writeMarkdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(junit.Bytes(), &suites); err != nil {
		t.Fatalf("%v in\n%s", err, junit.String())
	}
	run := suites.Suites[len(suites.Suites)-1].Cases[0]
	if run.Name != "highest rate with p99<250ms and errors<0.1%" || run.Failure != nil || run.Error != nil {
		t.Errorf("junit: %+v", run)
	}
	folded := html.UnescapeString(strings.ReplaceAll(markdown.String(), `\`, "")) // as a reader sees it
	for form, got := range map[string]string{"text": text.String(), "html": page, "junit": run.Output, "markdown": folded} {
		for _, want := range []string{"203/s holds, 208/s does not: this machine cannot send more", "p99<250ms is <b>300ms"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %q:\n%s", form, want, got)
			}
		}
	}
	if strings.Contains(markdown.String(), "<b>") || !strings.Contains(markdown.String(), "| ❌ | 207.9/s | 0.0/s | 0.00 ms | 0.00 ms | 3 | p99\\<250ms") {
		t.Errorf("markdown:\n%s", markdown.String())
	}
	if !strings.Contains(text.String(), "highest rate with p99<250ms and errors<0.1%") {
		t.Errorf("text:\n%s", text.String())
	}
}

// A search that has found nothing has failed, whatever holds of its last run, and
// one that was ended is not over.
func TestVerdictOfASearch(t *testing.T) {
	for limit, want := range map[string]Outcome{"target": Failed, "machine": Failed, "interrupted": Incomplete} {
		r := sampleReport(t, "a")
		r.Targets[0].Errors = 0
		r.Checks = []Check{{"p99<1s", "a", "1ms", true}}
		r.Found = &FoundRate{Conditions: []string{"p99<1s"}, Below: 0.2, Limit: limit}
		if v := r.Verdict(); v.Outcome != want || !strings.HasPrefix(v.Reasons[0], "no rate holds, down to 0.20/s") {
			t.Errorf("%s: %+v", limit, v)
		}
		if blamed := strings.Contains(r.Found.String(), "this machine cannot send them in time"); blamed != (limit == "machine") {
			t.Errorf("%s: %s", limit, r.Found)
		}
		var out bytes.Buffer
		if err := r.writeJUnit(&out); err != nil {
			t.Fatal(err)
		}
		var suites junitSuites
		if err := xml.Unmarshal(out.Bytes(), &suites); err != nil {
			t.Fatal(err)
		}
		if suites.Failures+suites.Errors != 1 || suites.Errors == 1 != (want == Incomplete) {
			t.Errorf("%s: junit has %d failures, %d errors", limit, suites.Failures, suites.Errors)
		}
		r.Found.Rate = 17.5
		if v := r.Verdict(); limit == "target" && (v.Outcome != Passed || v.Reasons[0] != "17.5/s holds, 0.20/s does not") {
			t.Errorf("%+v", v)
		}
	}
}

// A machine that starts requests late blames no target, and errors count unless a
// condition is about them.
func TestWhatHoldsOfATry(t *testing.T) {
	p99, _ := ParseCondition("5xx=0")
	errs, _ := ParseCondition("errors<50%")
	unlinked, _ := ParseCondition("unlinked<50%")
	diffs, _ := ParseCondition("diffs=0")
	for name, tc := range map[string]struct {
		target     Target
		conditions []Condition
		want       schedule.Verdict
	}{
		"all well":         {Target{Requests: 100}, []Condition{p99}, schedule.Held},
		"an error":         {Target{Requests: 100, Errors: 1}, []Condition{p99}, schedule.Failed},
		"a few errors":     {Target{Requests: 100, Errors: 1}, []Condition{p99, errs}, schedule.Held},
		"too many":         {Target{Requests: 100, Errors: 60}, []Condition{p99, errs}, schedule.Failed},
		"not in time":      {Target{Requests: 100, Unsent: 1}, []Condition{p99}, schedule.Failed},
		"a slow machine":   {Target{Requests: 100, Errors: 1, Late: 20, LateBusy: 2}, []Condition{p99}, schedule.Limited},
		"busy connections": {Target{Requests: 100, Errors: 1, Late: 20, LateBusy: 18}, []Condition{p99}, schedule.Failed},
		"not kept up with": {Target{Requests: 100, RateAsked: 100, Lateness: Latency{P99MS: 200}}, []Condition{p99}, schedule.Failed},
		"kept up with":     {Target{Requests: 100, RateAsked: 100, Lateness: Latency{P99MS: 50}}, []Condition{p99}, schedule.Held},
		"unlinked":         {Target{Requests: 100, Unlinked: 1}, []Condition{p99}, schedule.Failed},
		"a few unlinked":   {Target{Requests: 100, Unlinked: 1}, []Condition{p99, unlinked}, schedule.Held},
		"late for answers": {Target{Requests: 100, Errors: 1, Late: 20, LateWaiting: 18}, []Condition{p99}, schedule.Failed},
		"differences":      {Target{Requests: 100, Name: "new"}, []Condition{diffs}, schedule.Failed},
		"late, but well":   {Target{Requests: 100, Late: 20}, []Condition{p99}, schedule.Held},
	} {
		r := &Report{Targets: []Target{tc.target}, Comparisons: []Comparison{{Target: "new", Table: tally.Table{Pairs: 100}}}}
		r.Differences = []Difference{{"new", tally.Row{Class: tally.Differs}}}
		if tried, verdict := r.Try(10, tc.conditions); verdict != tc.want || tried.Held != (verdict == schedule.Held) ||
			strings.Contains(tried.Why, ", while this machine was late with 18 of 100 requests") != (verdict == schedule.Limited) {
			t.Errorf("%s: %v, %+v", name, verdict, tried)
		}
	}
}
