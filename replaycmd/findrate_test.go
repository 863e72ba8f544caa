// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// limiter answers 503 to what comes beyond a rate, with some allowed at once.
func limiter(rate, burst float64) http.HandlerFunc {
	var mu sync.Mutex
	left, last := burst, time.Now()
	return func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		left = min(burst, left+rate*now.Sub(last).Seconds())
		last = now
		if left < 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		left--
	}
}

// The interval that is found has the limit in it, or ends below: a busy machine
// sends in bursts.
func TestFindRateEndsAtALimit(t *testing.T) {
	s := serve(t, limiter(120, 30))
	o := replay(t, "--find-rate", "5xx=0", "--rate", "60/s", "--duration", "50ms", "--report", "json,text="+t.TempDir()+"/r.txt", s.url)
	if o.status != 0 && o.status != exitFailed {
		t.Fatalf("status %d, %s", o.status, o.stderr)
	}
	r := new(report.Report)
	if err := json.Unmarshal([]byte(o.stdout), r); err != nil {
		t.Fatalf("%v in %s", err, o.stdout)
	}
	f := r.Found
	if f == nil || len(f.Tried) < 3 || f.Conditions[0] != "5xx=0" {
		t.Fatalf("found %+v", f)
	}
	// 30 at once and 120 a second make at most 720/s for 50 ms
	if f.Rate >= 800 || f.Below == 0 || f.Below <= f.Rate {
		t.Errorf("found %+v", f)
	}
	if f.Rate > 0 && r.Targets[0].StatusClass(5) > 0 {
		t.Error("the report is of a run that did not hold")
	}
	if !strings.Contains(o.stderr, "60/s for 50ms: ") {
		t.Errorf("it says %s", o.stderr)
	}
}

// TestFindRateReportsTheRateThatWasFound has higher rates hold at first, and no
// longer when they are confirmed.
func TestFindRateReportsTheRateThatWasFound(t *testing.T) {
	var mu sync.Mutex
	served, last := 0, time.Time{}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		gap := time.Since(last)
		if last = time.Now(); served > 9 && gap < 25*time.Millisecond {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		served++
	})
	o, r := reported(t, "--find-rate", "5xx=0", "--rate", "60/s", "--duration", "50ms", s.url)
	if r.Found.Rate > 0 && r.Targets[0].RateAsked != r.Found.Rate {
		t.Errorf("found %+v, and the report is of %v/s: %s", r.Found, r.Targets[0].RateAsked, o.stderr)
	}
}

// TestFindRateFollowsConversations finds a rate of requests that are refused if
// they are sent as they were recorded.
func TestFindRateFollowsConversations(t *testing.T) {
	rec, limit, shop := recordVisits(t, 20), limiter(120, 30), newStall("two", 5000)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		if limit(answer, r); answer.Code >= http.StatusBadRequest {
			w.WriteHeader(answer.Code)
			return
		}
		shop.ServeHTTP(w, r)
	})
	o, r := reported(t, "--find-rate", "4xx=0", "--find-rate", "5xx=0", "--rate", "60/s", "--duration", "50ms", "--links", "auto", "--to", s.url, rec)
	if o.status != 0 || r.Found == nil || r.Found.Rate < 60 || len(r.Targets[0].Links) == 0 {
		t.Errorf("%+v", o)
	}
}

// TestFindRateAtWhichAnswersAreTheSame finds until which rate a new system answers
// as the old one, where it answers briefly beyond a limit.
func TestFindRateAtWhichAnswersAreTheSame(t *testing.T) {
	limit := limiter(120, 30)
	old := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all of it") })
	brief := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		if limit(answer, r); answer.Code >= http.StatusBadRequest {
			io.WriteString(w, "some")
			return
		}
		io.WriteString(w, "all of it")
	})
	junit := filepath.Join(t.TempDir(), "r.xml")
	o, r := reported(t, "--find-rate", "diffs=0", "--find-rate", "pairs>0", "--compare", "--rate", "60/s", "--duration", "50ms", "--report", "junit="+junit,
		"--to", "old="+old.url, "--to", "new="+brief.url, write(t, "a.fbf", 2000, 0))
	f := r.Found
	if f == nil || f.Rate >= 800 || f.Below <= f.Rate { // on a busy machine it may be any below
		t.Fatalf("%+v, found %+v", o, f)
	}
	if len(r.Comparisons) != 1 || r.Comparisons[0].Pairs == 0 || len(r.Checks) != 2 || f.Rate > 0 && len(r.Differences) > 0 {
		t.Errorf("the report is of another run: %+v, %+v, %+v", r.Comparisons, r.Differences, r.Checks)
	}
	o, r = reported(t, "--find-rate", "diffs=0", "--compare=old", "--rate", "1/s", "--duration", "5ms",
		"--to", "old="+old.url, "--to", "new="+serve(t, nil).url, write(t, "a.fbf", 9, 0))
	held := func(tried report.Tried) bool { return tried.Held }
	differs := func(tried report.Tried) bool { return strings.HasPrefix(tried.Why, "diffs=0 is ") } // or the machine was busy
	if o.status != exitFailed || slices.ContainsFunc(r.Found.Tried, held) || !slices.ContainsFunc(r.Found.Tried, differs) {
		t.Errorf("where they never are the same: %+v", o)
	}
	if data, err := os.ReadFile(junit); err != nil || !strings.Contains(string(data), `name="highest rate with diffs=0 and pairs&gt;0"`) {
		t.Errorf("%v, %s", err, data)
	}
}

func TestFindRateOfWhatNeverHolds(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	o := replay(t, "--find-rate", "5xx=0", "--rate", "1/s", "--duration", "5ms", write(t, "a.fbf", 2, 0), "--to", s.url)
	if o.status != exitFailed || !strings.Contains(o.stderr, "no rate holds") || !strings.Contains(o.stdout, "failed: 5xx=0 is") {
		t.Errorf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

func TestFindRateWithOtherFlags(t *testing.T) {
	for says, args := range map[string][]string{
		"without --max":        {"--find-rate", "p99<1s", "--max"},
		"without --fail":       {"--find-rate", "p99<1s", "--fail", "errors=0"},
		"does not change":      {"--find-rate", "p99<1s", "--rate", "0s:1/s 9s:2/s"},
		"is of one run":        {"--find-rate", "p99<1s", "--report", "csv"},
		"is not a condition":   {"--find-rate", "x"},
		"is about comparing":   {"--find-rate", "diffs=0"},
		"is about conversatio": {"--find-rate", "unlinked=0"},
		"without --live":       {"--find-rate", "p99<1s", "--live"},
		"called gone":          {"--find-rate", "diffs=0", "--compare=gone", "--to", "a=http://localhost:1", "--to", "b=http://localhost:1"},
		"is about an earlier ": {"--find-rate", "p99<1.1x baseline"},
	} {
		if o := replay(t, append(args, "http://localhost:1")...); o.status != exitNotStarted || !strings.Contains(o.stderr, says) {
			t.Errorf("%v: status %d, %s", args, o.status, o.stderr)
		}
	}
	const again = "--find-rate cannot read standard input a second time"
	if o := replay(t, "--find-rate", "p99<1s", "--to", "localhost:1", "-"); o.status != exitNotStarted || !strings.Contains(o.stderr, again) {
		t.Errorf("standard input: status %d, %s", o.status, o.stderr)
	}
}

// TestFindRateFromTooHigh begins at a rate of which one try would take a day.
func TestFindRateFromTooHigh(t *testing.T) {
	s := serve(t, nil)
	o := replay(t, "--find-rate", "p99<1ns", "--rate", "1000000000/s", "--duration", "5ms", "--timeout", "20ms", s.url)
	if o.status != exitFailed || !strings.Contains(o.stderr, "no rate holds") {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
}
