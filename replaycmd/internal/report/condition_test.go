// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"
	"time"
)

// target has 1,000 requests, 100 a second: 990 answers after 1 to 99 ms, of
// them 20 with status 503, and 10 errors; 30 requests were late.
func target(t *testing.T) *Target {
	t.Helper()
	results := NewCollector(nil)
	s := results.NewBatch()
	for i := range 1000 {
		due := time.Duration(i) * 10 * time.Millisecond
		sample := Sample{Due: due, Started: due, Ended: due + time.Duration(i%99+1)*time.Millisecond, Status: 200, Class: -1}
		if i < 20 {
			sample.Status = 503
		}
		if i >= 40 && i < 70 {
			sample.Started += 11 * time.Millisecond
			sample.Ended += 11 * time.Millisecond
		}
		if i >= 100 && i < 110 {
			sample.Status, sample.Failure = 0, "refused"
		}
		s.Add(sample)
	}
	r, err := New(Facts{}, []Result{{Name: "a", Totals: results.Finish()}})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Targets[0]
}

func TestJudge(t *testing.T) {
	a := target(t)
	for text, want := range map[string]bool{
		"p50<60ms": true, "p50<40ms": false, "p50 < 60ms": true, "p99.9<1s": true, "p99>=50ms": true,
		"max<=120ms": true, "max<50ms": false, "p100<=120ms": true, "p90=90ms": false,
		"errors<11": true, "errors<10": false, "errors<=1%": true, "errors<1%": false, "errors=10": true,
		"late<31": true, "late<3%": false, "late<=3%": true,
		"5xx<=20": true, "5xx<2%": false, "2xx>900": true, "4xx=0": true,
		"rate>90/s": true, "rate>99.5/s": false, "rate>=200/s": false, "rate>5000/m": true,
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if check := c.Judge(a); check.OK != want || check.Target != "a" || check.Value == "" {
			t.Errorf("%s: got %+v, want %v", text, check, want)
		}
	}
}

// Requests that could not be started count in every condition but those on
// latencies, statuses and rates, whose shares are of all that were due.
func TestUnsentRequestsCount(t *testing.T) {
	a := &Target{Name: "a", Requests: 80, Answers: 80, Unsent: 20, Late: 5, Errors: 2, Status: map[string]int64{"200": 70, "404": 10}, AnswerRate: 8}
	for text, want := range map[string]string{
		"errors<23": "22", "errors<22%": "22.00%", "late<26": "25", "late<=25%": "25.00%",
		"2xx>69": "70", "2xx<=70%": "70.00%", "4xx<=10%": "10.00%", "1xx=0%": "0.00%", "5xx<1": "0", "3xx=0": "0", "rate>=8/s": "8.0/s",
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if check := c.Judge(a); check.Value != want || check.OK != (text != "errors<22%") {
			t.Errorf("%s: got %+v, want %s", text, check, want)
		}
	}
	a.Unsent = 0
	for text, want := range map[string]string{"errors<3": "2", "errors<2.6%": "2.50%", "late<6": "5", "late<6.3%": "6.25%", "2xx>87%": "87.50%"} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if check := c.Judge(a); check.Value != want || !check.OK {
			t.Errorf("all sent, %s: got %+v, want %s", text, check, want)
		}
	}
}

// A share of no requests is unknown; a number of them is 0.
func TestSharesOfNothingDoNotHold(t *testing.T) {
	for text, want := range map[string]bool{"errors<1%": false, "late<=100%": false, "2xx>=0%": false, "errors<1": true, "5xx=0": true} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if check := c.Judge(&Target{Name: "a"}); check.OK != want || !want && check.Value != "unknown, as nothing was sent" {
			t.Errorf("%s: got %+v, want %v", text, check, want)
		}
	}
}

func TestNoAnswerMeetsNoLatency(t *testing.T) {
	for _, text := range []string{"p99<1h", "max<1h", "p50>=0s"} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if check := c.Judge(&Target{Name: "a"}); check.OK {
			t.Errorf("%s holds of nothing", text)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":           "expected one like p99<250ms",
		"p99":        "expected one like p99<250ms",
		"p99<":       "not a duration",
		"p99<250":    "not a duration",
		"p99<-1ms":   "not a duration",
		"p0<1ms":     "there is no figure 'p0'",
		"<1ms":       "there is no figure ''",
		"speed<1":    "there is no figure 'speed'",
		"errors<x":   "not a number or a percentage",
		"errors<-1":  "not a number or a percentage",
		"errors<inf": "not a number or a percentage",
		"rate>0":     "not a rate",
		"9xx<1":      "there is no figure '9xx'",
		"p99=<1ms":   "not a duration",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, text := range []string{"p99<250ms", "errors<=0.1%", "rate>=5/s", "p99.9<1s", "5xx=0", "<>="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err == nil {
			c.Judge(&Target{})
		}
	})
}
