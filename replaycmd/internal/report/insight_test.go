// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// All was answered, and yet a reader has to see at once that answers say otherwise.
func TestInsightsNameServerErrors(t *testing.T) {
	moment := func(second, failing int64) Moment {
		return Moment{Second: second, OK: 50, StatusClasses: map[string]int64{"2xx": 50 - failing, "5xx": failing}}
	}
	r := &Report{Targets: []Target{
		{Name: "old", Answers: 100, Status: map[string]int64{"200": 100}, Timeline: []Moment{moment(0, 0), moment(1, 0)}},
		{Name: "new", Answers: 100, Status: map[string]int64{"200": 79, "500": 1, "503": 20}, Timeline: []Moment{moment(0, 2), moment(1, 19)}},
		{Name: "short", Answers: 1, Status: map[string]int64{"500": 1}, Timeline: []Moment{moment(0, 1)}},
	}}
	want := []string{"new: 21 of 100 answers have a status of 5xx, most at 1 s", "short: 1 of 1 answers have a status of 5xx"}
	if got := r.insights(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Of a few answers nobody knows which target is slower.
func TestInsightsOfFewAnswers(t *testing.T) {
	target := func(name string, answers int, each time.Duration) Target {
		h := NewHistogram(3)
		for range answers {
			h.Add(each)
		}
		latency, err := newLatency(h)
		if err != nil {
			t.Fatal(err)
		}
		return Target{Name: name, Requests: int64(answers), Answers: int64(answers), Latency: latency, By: []Class{{Name: "/a", Latency: latency}, {Name: "/b"}}}
	}
	for _, tc := range []struct {
		answers int
		want    bool
	}{{1, false}, {fewForMedian - 1, false}, {fewForMedian, true}} {
		r := &Report{Targets: []Target{target("old", tc.answers, time.Millisecond), target("new", tc.answers, time.Second)}}
		said := strings.Join(r.insights(), "\n")
		if strings.Contains(said, "new is the slowest") != tc.want || strings.Contains(said, "the slowest class") != tc.want {
			t.Errorf("of %d answers: %s", tc.answers, said)
		}
	}
}
