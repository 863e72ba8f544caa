// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"
)

func TestCountsAreExactAndMemoryIsNot(t *testing.T) {
	const senders, each = 8, 50_000
	target := NewCollector(nil)
	var wg sync.WaitGroup
	for n := range senders {
		s := target.NewBatch()
		wg.Go(func() {
			for i := range each {
				s.Add(Sample{
					Due: time.Duration(i), Started: time.Duration(i) + 1, Ended: time.Duration(i) + time.Duration(n+1)*time.Millisecond,
					Status: 200, Class: -1, Sent: 10, Received: 100,
				})
			}
		})
	}
	wg.Wait()
	if n, errors := target.Counts(); n != senders*each || errors != 0 {
		t.Errorf("counted %d requests and %d errors", n, errors)
	}
	totals := target.Finish()
	if totals.Requests != senders*each || totals.Answered != senders*each || totals.Status[200] != senders*each ||
		totals.Sent != 10*senders*each || totals.Received != 100*senders*each || totals.Latency.Count() != senders*each {
		t.Errorf("got %+v", totals)
	}
	for percent, want := range map[float64]time.Duration{12: time.Millisecond, 50: 4 * time.Millisecond, 100: 8 * time.Millisecond} {
		if got := totals.Latency.At(percent); math.Abs(float64(got-want)) > float64(want)/500 {
			t.Errorf("%v%% are within %v, want %v", percent, got, want)
		}
	}
	if mean := totals.Latency.Mean(); (mean - 4500*time.Microsecond).Abs() > 10*time.Microsecond {
		t.Errorf("the mean is %v", mean)
	}
}

func TestLatencyServiceAndLateness(t *testing.T) {
	target := NewCollector(nil)
	s := target.NewBatch()
	const second = time.Second
	s.Add(Sample{Due: 1 * second, Started: 1 * second, Ended: 2 * second, Status: 200, Class: -1})
	s.Add(Sample{Due: 1 * second, Started: 3 * second, Ended: 4 * second, Status: 503, Class: -1, Truncated: true})
	s.Add(Sample{Due: 1 * second, Started: 1*second + LateAfter, Ended: 5 * second, Failure: "timeout", Class: -1})
	s.Add(Sample{Due: 2 * second, Started: 2 * second, Ended: 2 * second, Failure: Interrupted, Class: -1})
	totals := target.Finish()
	if totals.Latency.Count() != 2 || (totals.Latency.Max()-3*second).Abs() > 5*time.Millisecond {
		t.Errorf("latency: %d up to %v", totals.Latency.Count(), totals.Latency.Max())
	}
	if (totals.Service.Max() - second).Abs() > time.Millisecond {
		t.Errorf("service time up to %v", totals.Service.Max())
	}
	if totals.Lateness.Count() != 4 || totals.Late != 1 || (totals.Lateness.Max()-2*second).Abs() > 3*time.Millisecond {
		t.Errorf("lateness: %d late, up to %v", totals.Late, totals.Lateness.Max())
	}
	if totals.Errors() != 1 || totals.Failures[Interrupted] != 1 || totals.Truncated != 1 || totals.Status[503] != 1 {
		t.Errorf("got %+v", totals)
	}
	if totals.Elapsed() != 4*second || totals.perSecond(totals.Requests, 0) != 1 {
		t.Errorf("%v/s in %v", totals.perSecond(totals.Requests, 0), totals.Elapsed())
	}
}

func TestNothingHasFiniteFigures(t *testing.T) {
	totals := NewCollector(nil).Finish()
	if totals.perSecond(totals.Requests, 0) != 0 || totals.Elapsed() != 0 || totals.Latency.Mean() != 0 || totals.Latency.At(99) != 0 || totals.Latency.Max() != 0 {
		t.Errorf("got %v/s in %v", totals.perSecond(totals.Requests, 0), totals.Elapsed())
	}
	if _, err := totals.Latency.Encode(); err != nil {
		t.Error(err)
	}
	target := NewCollector(nil)
	target.NewBatch().Add(Sample{Status: 200, Class: -1})
	if totals := target.Finish(); totals.perSecond(totals.Requests, 0) != 0 || totals.Requests != 1 {
		t.Errorf("of one at once: %v/s", totals.perSecond(totals.Requests, 0))
	}
}

func TestHistogramTakesAnyDuration(t *testing.T) {
	h := NewHistogram(3)
	for _, d := range []time.Duration{-time.Hour, 0, 1, time.Microsecond, 48 * time.Hour, math.MaxInt64} {
		h.Add(d)
	}
	if h.Count() != 6 || h.Max() != longest {
		t.Errorf("counted %d up to %v", h.Count(), h.Max())
	}
}

func TestSeriesHasARowForEverySecond(t *testing.T) {
	var rows []Row
	target := NewCollector(func(r Row) { rows = append(rows, r) })
	s := target.NewBatch()
	at := func(ms int) Sample {
		return Sample{Ended: time.Duration(ms) * time.Millisecond, Status: 200, Class: -1}
	}
	s.Add(at(100))
	s.Add(at(900))
	target.Tick(time.Second)
	s.Add(at(950)) // its second is over
	s.Add(at(3500))
	target.Tick(3 * time.Second)
	s.Add(Sample{Ended: 3600 * time.Millisecond, Failure: "refused", Class: -1})
	target.Finish()
	want := "[0:2+0 1:1+0 2:0+0 3:1+1]"
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%d:%d+%d", r.Second, r.Status[2], r.Errors))
	}
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A status beyond 599 is an answer, but no server error.
func TestStatusesBeyondFiveHundreds(t *testing.T) {
	var rows []Row
	target := NewCollector(func(r Row) { rows = append(rows, r) })
	s := target.NewBatch()
	for _, status := range []int{500, 600, 999} {
		s.Add(Sample{Status: status, Class: -1})
	}
	if totals := target.Finish(); totals.Answered != 3 || len(rows) != 1 || rows[0].Requests != 3 || rows[0].Status[5] != 1 {
		t.Errorf("%d answers, rows %v", totals.Answered, rows)
	}
}

func TestSendersDoNotWaitForWhoTakesTheRows(t *testing.T) {
	taking, taken := make(chan struct{}), make(chan struct{})
	target := NewCollector(func(Row) { close(taking); <-taken })
	ticked := make(chan struct{})
	go func() {
		defer close(ticked)
		target.Tick(time.Second)
	}()
	<-taking
	added := make(chan struct{})
	go func() {
		defer close(added)
		s := target.NewBatch()
		for range batchSize {
			s.Add(Sample{Ended: 2 * time.Second, Status: 200, Class: -1})
		}
	}()
	select {
	case <-added:
	case <-time.After(20 * time.Second):
		t.Error("senders wait")
	}
	close(taken)
	<-ticked
}

func TestPathClasses(t *testing.T) {
	c := NewClasses(ByPath)
	for target, want := range map[string]string{
		"/":                    "/",
		"/users/42":            "/users/*",
		"/users/43?q=/users/1": "/users/*",
		"/users/me":            "/users/me",
		"/v1/items":            "/v1/items",
		"/o/550e8400-e29b-41d4-a716-446655440000/x": "/o/*/x",
		"/b/deadbeefdeadbeef0":                      "/b/*",
		"/face":                                     "/face",
		"/h/abcdef012345678":                        "/h/abcdef012345678", // 15 of 16
		"/h/abcdef0123456789":                       "/h/*",
		"/h/abcdefabcdefabcd":                       "/h/abcdefabcdefabcd", // a word, for all we know
		"/h/ABCDEF-012345678":                       "/h/*",
		"/h/0123456789abcdefg":                      "/h/0123456789abcdefg",
		"//double":                                  "//double",
		"*":                                         "*",
	} {
		if got := c.Name(c.Of([]byte("GET"), []byte(target))); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestClassesAreBounded(t *testing.T) {
	c := NewClasses(ByMethod)
	for i := range 10_000 {
		c.Of(fmt.Appendf(nil, "M%d", i), nil)
	}
	if n := len(c.names); n != maxClasses+1 || c.Name(c.Of([]byte("M5000"), nil)) != others || c.Name(c.Of([]byte("M5"), nil)) != "M5" {
		t.Errorf("there are %d classes", n)
	}
	if class := NewClasses(ByStatus).Of([]byte("GET"), []byte("/")); class != -1 {
		t.Errorf("got class %d by status", class)
	}
	if _, err := ParseBy("colour"); err == nil {
		t.Error("colour was accepted")
	}
}

func BenchmarkAdd(b *testing.B) {
	s := NewCollector(nil).NewBatch()
	b.ReportAllocs()
	for b.Loop() {
		s.Add(Sample{Started: 1, Ended: 500_000, Status: 200, Class: -1})
	}
}
