// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// said is what requests say of themselves; `ip` is the client.
type said map[string]string

func (f said) Get(name string) string { return f[name] }
func (f said) ClientIP() string       { return f["ip"] }

// branches returns how often each outcome was chosen in so many requests.
func branches(t *testing.T, s *Scenario, requests int) map[int]int {
	t.Helper()
	counts := make(map[int]int)
	for range requests {
		counts[ask(t, s, "/").Branch]++
	}
	return counts
}

// TestOutcomesShareTheRequests holds the shares of all kinds of stages, within
// three standard deviations.
func TestOutcomesShareTheRequests(t *testing.T) {
	const requests = 10_000
	for outcomes, want := range map[string][]float64{ // shares of outcomes 0 (none), 1, 2 …
		`{"status":503,"percent":3},{"latency":"10ms"}`:                                      {0, 3, 97},
		`{"percent":20},{"percent":30},{"percent":50}`:                                       {0, 20, 30, 50},
		`{"percent":20},{"percent":30}`:                                                      {50, 20, 30},
		`{"percent":0},{"percent":100},{}`:                                                   {0, 0, 100, 0},
		`{"percent":33.4},{"percent":33.3},{"percent":33.3}`:                                 {0, 33.4, 33.3, 33.3},
		`{"first":5000,"status":503},{"percent":20},{"percent":30},{}`:                       {0, 50, 10, 15, 25},
		`{"percent":20},{"first":4000},{"percent":40},{"percent":20}`:                        {8 + 2, 20, 40, 20, 10},
		`{"first":1000,"status":503},{"first":2000},{"percent":10}`:                          {63, 10, 20, 7},
		`{"first":20000},{"percent":10}`:                                                     {0, 100, 0},
		`{"first":3000},{"percent":0},{"percent":100},{"first":5},{"percent":0},{"first":5}`: {0, 30, 0, 70, 0, 0, 0},
	} {
		s := play(t, `{"body":"x","seed":4,"stages":[{"outcomes":[`+outcomes+`]}]}`)
		got := branches(t, s, requests)
		for branch, percent := range want {
			p := percent / 100
			sigma := math.Sqrt(requests * p * (1 - p))
			if off := math.Abs(float64(got[branch]) - requests*p); off > 3*sigma && (sigma == 0 || off > 0) {
				t.Errorf("%s: got %v, want shares %v", outcomes, got, want)
			}
		}
	}
}

// TestOutcomesDiffer holds that each has all of its own, and who gets none a
// plain 200.
func TestOutcomesDiffer(t *testing.T) {
	s := play(t, `{"body":"content","headers":{"a":"1"},"stages":[{"outcomes":[
		{"first":1,"status":503,"latency":"1s","headers":{"a":"2"},"body":"own"},
		{"first":1,"fault":"reset"},
		{"first":1,"fault":"cut 30","dribble":"3 6s","chunked":true}]}]}`)
	var got []string
	for range 4 {
		a := ask(t, s, "/")
		got = append(got, fmt.Sprintf("%d %d %d %v %s %v %d %v %s %s %s", a.Branch, a.Stage, a.Status, a.Latency, a.Fault, a.Sent, a.Pace.Chunks, a.Chunked, a.Length, field(a, "A"), bodyOf(a)))
	}
	want := []string{
		"1 1 503 1s  0 0 false 3 2 own",
		"2 1 200 0s reset 0 0 false 7 1 content",
		"3 1 200 0s cut 0.3 3 true  1 content",
		"0 0 200 0s  0 0 false 7 1 content",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	counts, _ := s.Counted()
	if got := s.Branches()["/*"]; !maps.Equal(got, Counts{0: 1, 1: 1, 2: 1, 3: 1}) || !maps.Equal(counts, Counts{NoStatus: 1, 200: 2, 503: 1}) {
		t.Errorf("counted %v and %v", got, counts)
	}
}

// TestFirstsAreOfEachKey holds for every kind of key, and that requests without
// one are alike.
func TestFirstsAreOfEachKey(t *testing.T) {
	for by, requests := range map[string][2]Request{
		"header x-user": {{Fields: said{"X-User": "ann"}}, {Fields: said{"X-User": "bob"}}},
		"header Host":   {{Fields: said{"Host": "a"}}, {Fields: said{"Host": "b"}}},
		"cookie id":     {{Fields: said{"Cookie": "x=1; id=ann"}}, {Fields: said{"Cookie": "id=bob"}}},
		"client_ip":     {{Fields: said{"ip": "192.0.2.1"}}, {Fields: said{"ip": "192.0.2.2"}}},
		"uri":           {{Target: "/?a"}, {Target: "/?b"}},
	} {
		s := play(t, `{"stages":[{"outcomes":[{"status":503,"first":"2 by `+by+`"},{}]}]}`)
		if asks := s.AsksForClients(); asks != (by == "client_ip") {
			t.Errorf("%s: asks for clients: %v", by, asks)
		}
		for _, request := range append(requests[:], Request{}) {
			var got []int
			for range 3 {
				a, _ := s.Decide(request)
				got = append(got, a.Status)
			}
			if !slices.Equal(got, []int{503, 503, 200}) {
				t.Errorf("%s: %+v got %v", by, request, got)
			}
		}
	}
}

// TestFirstsBeginAgain holds with the stage, with its next lap and when the
// clock is set back.
func TestFirstsBeginAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"loop":"20s","stages":[{"outcomes":[{"status":503,"first":1},{"status":500,"first":"1 by uri"},{}]},{"at":"10s","status":429,"first":1}]}`)
		three := func() (got []int) {
			for range 3 {
				got = append(got, ask(t, s, "/").Status)
			}
			return got
		}
		for lap, want := range [][]int{{503, 500, 200}, {429, 200, 200}, {503, 500, 200}, {429, 200, 200}} {
			if got := three(); !slices.Equal(got, want) {
				t.Errorf("stage %d: got %v, want %v", lap, got, want)
			}
			if got := three(); !slices.Equal(got, []int{200, 200, 200}) {
				t.Errorf("stage %d, later: got %v", lap, got)
			}
			time.Sleep(10 * time.Second)
		}
		for range 2 {
			if err := s.Rewind(); err != nil {
				t.Fatal(err)
			}
			if got := three(); !slices.Equal(got, []int{503, 500, 200}) {
				t.Errorf("with the clock set back: got %v", got)
			}
		}
	})
}

// TestOldestKeysAreForgotten holds that a key of many others is new again, that
// this is counted, and that no more is kept.
func TestOldestKeysAreForgotten(t *testing.T) {
	defer func(before int) { mostKeys = before }(mostKeys)
	mostKeys = 100
	s := play(t, `{"stages":[{"outcomes":[{"status":503,"first":"1 by uri"},{}]}]}`)
	status := func(key int) int {
		a, _ := s.Decide(Request{Target: fmt.Sprint(key)})
		return a.Status
	}
	for key := range 250 {
		if got := status(key); got != 503 {
			t.Fatalf("key %d got %d", key, got)
		}
	}
	for _, tc := range []struct{ key, want int }{{249, 200}, {150, 200}, {149, 503}, {0, 503}} {
		if got := status(tc.key); got != tc.want {
			t.Errorf("key %d of 250: got %d, want %d", tc.key, got, tc.want)
		}
	}
	r := s.table.Load().find("/")
	if c := r.phase.Load().steps[0].first; len(c.counts) != 100 || len(c.order) != 100 {
		t.Errorf("%d keys and %d places are kept", len(c.counts), len(c.order))
	}
	var metric dto.Metric
	if err := r.counts.series.forgotten().Write(&metric); err != nil || metric.GetCounter().GetValue() != 152 {
		t.Errorf("counted %v forgotten keys, error %v", metric.GetCounter().GetValue(), err)
	}
}

// TestSeedsHoldForAnyConcurrency compares what a route decides, in any order,
// for one client, for eight, and while another route is busy.
func TestSeedsHoldForAnyConcurrency(t *testing.T) {
	decided := func(clients, others int) map[string]int {
		const outcomes = `[{"first":3,"latency":"0..1s"},{"percent":20,"status":503,"latency":"0..1s","fault":"reset 50"},{"percent":30,"latency":"p50=1s,p90=2s"},
			{"first":70,"status":201,"latency":"0..1s"},{"percent":10,"status":202},{"latency":"lognormal(70ms,0.3)"}]`
		s := play(t, `[{"route":"/a","seed":5,"random_content":"1b..1kb","stages":[{"outcomes":`+outcomes+`}]},{"route":"/b","seed":5,"stages":[{"outcomes":`+outcomes+`}]}]`)
		all := make(map[string]int)
		var mu sync.Mutex
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for range 800 / clients {
					a := ask(t, s, "/a")
					for range others {
						ask(t, s, "/b")
					}
					mu.Lock()
					all[fmt.Sprint(a.Branch, a.Latency, a.Fault, a.Length)]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		return all
	}
	want := decided(1, 0)
	if len(want) < 700 {
		t.Fatalf("only %d different decisions", len(want))
	}
	for range 3 {
		if got := decided(8, 1); !maps.Equal(got, want) {
			t.Fatalf("eight clients got %v\none got %v", got, want)
		}
	}
}

// TestNumbersOfADecisionAreIndependent holds that the outcome says nothing of
// the latency: the median is the same in each.
func TestNumbersOfADecisionAreIndependent(t *testing.T) {
	s := play(t, `{"seed":1,"stages":[{"outcomes":[{"percent":30,"latency":"0..1s"},{"percent":30,"latency":"0..1s"},{"latency":"0..1s"}]}]}`)
	sums, counts := make(map[int]time.Duration), make(map[int]int)
	for range 20_000 {
		a := ask(t, s, "/")
		sums[a.Branch] += a.Latency
		counts[a.Branch]++
	}
	for branch, sum := range sums {
		if mean := sum / time.Duration(counts[branch]); mean < 480*time.Millisecond || mean > 520*time.Millisecond {
			t.Errorf("outcome %d has a mean of %v", branch, mean)
		}
	}
}

// TestRampsLeadToTheSamePlace holds that each outcome moves to its own.
func TestRampsLeadToTheSamePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"stages":[{"outcomes":[{"first":100,"latency":"100ms","ramp":true},{"latency":"1s","ramp":true}]},
			{"at":"10s","outcomes":[{"first":1,"latency":"200ms"},{"latency":"3s"}]}]}`)
		time.Sleep(5 * time.Second)
		for i := range 102 {
			want := 150 * time.Millisecond
			if i >= 100 {
				want = 2 * time.Second
			}
			if got := ask(t, s, "/").Latency; got.Round(time.Microsecond) != want {
				t.Fatalf("request %d: got %v, want %v", i, got, want)
			}
		}
	})
}

// TestLateDecisionsLoseNothing holds that a request which decides with the time
// of the stage before does not bring that back.
func TestLateDecisionsLoseNothing(t *testing.T) {
	s := play(t, `{"stages":[{},{"at":"1h","outcomes":[{"status":503,"first":1},{"status":201}]}]}`)
	r := s.table.Load().find("/")
	before, after := r.timeline.begun, r.timeline.begun.Add(2*time.Hour)
	var got []int
	for _, now := range []time.Time{before, after, before, after} {
		got = append(got, r.decide(Request{}, now).Status)
	}
	if want := []int{200, 503, 201, 201}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDecidingAllocatesNothing holds for one outcome and for three.
func TestDecidingAllocatesNothing(t *testing.T) {
	for _, stage := range []string{`{"latency":"1ms..2ms"}`, `{"outcomes":[{"status":503,"first":"2 by uri"},{"percent":3,"fault":"reset 50"},{"latency":"1ms..2ms"}]}`} {
		for _, seed := range []string{"", `"seed":1,`} {
			s := play(t, `{`+seed+`"body":"x","stages":[`+stage+`]}`)
			var a response.Response
			if n := testing.AllocsPerRun(1000, func() { a, _ = s.Decide(Request{Path: "/", Target: "/"}) }); n > 0 || a.Message == nil {
				t.Errorf("%s %s: %v allocations", seed, stage, n)
			}
		}
	}
}
