// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

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
	for form, got := range map[string]string{"text": text.String(), "html": page} {
		for _, want := range []string{"203/s holds, 208/s does not: this machine cannot send more", "p99<250ms is <b>300ms"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %q:\n%s", form, want, got)
			}
		}
	}
	if !strings.Contains(text.String(), "highest rate with p99<250ms and errors<0.1%") {
		t.Errorf("text:\n%s", text.String())
	}
}

// A machine that starts requests late blames no target, and errors count unless a
// condition is about them.
func TestWhatHoldsOfATry(t *testing.T) {
	p99, _ := ParseCondition("5xx=0")
	errs, _ := ParseCondition("errors<50%")
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
		"late, but well":   {Target{Requests: 100, Late: 20}, []Condition{p99}, schedule.Held},
	} {
		r := &Report{Targets: []Target{tc.target}}
		if tried, verdict := r.Try(10, tc.conditions); verdict != tc.want || tried.Held != (verdict == schedule.Held) {
			t.Errorf("%s: %v, %+v", name, verdict, tried)
		}
	}
}
