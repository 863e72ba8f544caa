// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// paced runs the command with a report in JSON.
func paced(t *testing.T, args ...string) *report.Report {
	t.Helper()
	o := replay(t, append([]string{"--report", "json"}, args...)...)
	if o.status != 0 {
		t.Fatalf("%v: status %d, %s", args, o.status, o.stderr)
	}
	r := new(report.Report)
	if err := json.Unmarshal([]byte(o.stdout), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRatesOfAShape(t *testing.T) {
	s := serve(t, nil)
	for name, tc := range map[string]struct {
		args     []string
		low, top int64
		asked    float64
		pace     string
	}{
		"points":  {[]string{"--rate", "0s:100/s 200ms:500/s 400ms:500/s"}, 159, 161, 400, "0s:100/s 200ms:500/s 400ms:500/s"},
		"ramp":    {[]string{"--rate", "0/s..1000/s", "--duration", "400ms"}, 199, 201, 500, "0/s..1000/s"},
		"cut":     {[]string{"--rate", "0s:100/s 1m:100/s", "--duration", "200ms"}, 20, 20, 100, "0s:100/s 1m:100/s"},
		"poisson": {[]string{"--rate", "500/s", "--duration", "400ms", "--poisson"}, 144, 256, 500, "500/s, poisson"},
		"number":  {[]string{"--rate", "0s:100/s 1m:900/s", "-n", "5"}, 5, 5, 500, "0s:100/s 1m:900/s"},
	} {
		t.Run(name, func(t *testing.T) {
			r := paced(t, append(tc.args, s.url)...)
			got := r.Targets[0].Requests
			if got < tc.low || got > tc.top || r.Targets[0].RateAsked != tc.asked || r.Pace != tc.pace {
				t.Errorf("%d requests, rate %v asked, pace %s", got, r.Targets[0].RateAsked, r.Pace)
			}
		})
	}
}

// The warm-up comes before all that is asked for, and nothing of it is counted.
func TestWarmUpIsInNoFigure(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want int64 // 0: some
		sent int   // with the warm-up, 0: more than want
	}{
		"rate and duration": {[]string{"--rate", "100/s", "--duration", "200ms"}, 20, 50},
		"rate and number":   {[]string{"--rate", "100/s", "-n", "7"}, 7, 37},
		"points":            {[]string{"--rate", "0s:100/s 200ms:200/s"}, 30, 60},
		"max and number":    {[]string{"--max", "-n", "5", "-c", "2"}, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			r := paced(t, append(tc.args, "--warmup", "300ms", "--fail", "errors=0", s.url)...)
			got, sent := r.Targets[0].Requests, len(s.got())
			if got != tc.want || tc.sent > 0 && sent != tc.sent || sent <= int(got) {
				t.Errorf("%d requests counted, %d sent", got, sent)
			}
			if r.Targets[0].Latency.Count != got || r.Targets[0].ElapsedMS > r.ElapsedMS+1 {
				t.Errorf("%d latencies, %v ms of %v", r.Targets[0].Latency.Count, r.Targets[0].ElapsedMS, r.ElapsedMS)
			}
		})
	}
}

func TestPacesThatCannotBe(t *testing.T) {
	for says, args := range map[string][]string{
		"expected --duration":       {"--rate", "1/s..9/s", "http://localhost:1"},
		"expected --rate as well":   {"--poisson", "-n", "1", "http://localhost:1"},
		"is before the point":       {"--rate", "0s:1/s 9s:1/s 5s:1/s", "http://localhost:1"},
		"exclude one another":       {"--rate", "0s:1/s 9s:1/s", "--max", "http://localhost:1"},
		"expected --requests or":    {"--rate", "5/s", "http://localhost:1"},
		"is not a duration above 0": {"--warmup", "0s", "-n", "1", "http://localhost:1"},
		"'10' is not a duration":    {"--warmup", "10", "-n", "1", "http://localhost:1"},
	} {
		if o := replay(t, args...); o.status != exitNotStarted || !strings.Contains(o.stderr, says) {
			t.Errorf("%v: status %d, %s", args, o.status, o.stderr)
		}
	}
}
