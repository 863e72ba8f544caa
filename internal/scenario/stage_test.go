// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
)

// TestSharesOfAStage holds that 0% never and 100% always befalls, and that
// others come near to what they say.
func TestSharesOfAStage(t *testing.T) {
	const requests = 4000
	for _, tc := range []struct {
		stage            string
		failures, resets float64 // of 100
	}{
		{`{"status":503,"percent":0}`, 0, 0},
		{`{"status":503,"percent":100}`, 100, 0},
		{`{"status":503}`, 100, 0},
		{`{"status":503,"percent":25}`, 25, 0},
		{`{"status":503,"fault":"reset 0"}`, 100, 0},
		{`{"status":503,"fault":"reset 100"}`, 0, 100},
		{`{"status":503,"fault":"reset"}`, 0, 100},
		{`{"status":503,"percent":50,"fault":"reset 50"}`, 25, 25},
	} {
		s := play(t, `{"body":"x","stages":[`+tc.stage+`]}`)
		var failures, resets, plain float64
		for range requests {
			switch a := ask(t, s, "/"); {
			case a.Fault == response.Reset:
				resets++
			case a.Status == 503:
				failures++
			case a.Status == 200 && a.Stage == 0 && bodyOf(a) == "x":
				plain++
			}
		}
		for _, part := range []struct{ got, want float64 }{{failures, tc.failures}, {resets, tc.resets}, {plain, 100 - tc.failures - tc.resets}} {
			exact := part.want == 0 || part.want == 100
			if off := math.Abs(part.got/requests*100 - part.want); exact && off > 0 || off > 4 {
				t.Errorf("%s: got %v failures, %v resets, %v plain answers", tc.stage, failures, resets, plain)
			}
		}
		counts, _ := s.Counted()
		if counts[NoStatus] != uint64(resets) || counts[503] != uint64(failures) || counts.Total() != requests {
			t.Errorf("%s: counted %v", tc.stage, counts)
		}
	}
}

// TestStagesOwnAnswer holds what a stage puts in place of the recipe's.
func TestStagesOwnAnswer(t *testing.T) {
	s := play(t, `{"body":"recipe","headers":{"a":"1","b":"2","content-encoding":"gzip"},"stages":[
		{"status":503,"body":"{\"own\":\"<<5b>>\"}","headers":{"B":["3","4"],"c":"5"},"dribble":"3 6s"}]}`)
	a := ask(t, s, "/")
	if got := unzip(t, a); a.Status != 503 || len(got) != 15 || field(a, "Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("got %d %q", a.Status, got)
	}
	if field(a, "A") != "1" || field(a, "B") != "3" || field(a, "C") != "5" || a.Lines != 6 {
		t.Errorf("got %v", a.Fields)
	}
	if a.Pace.Chunks != 3 || a.Pace.Duration != 6*time.Second {
		t.Errorf("got %+v", a.Pace)
	}
}

func TestRamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, `{"stages":[{"latency":"100ms","ramp":true},{"at":"10s","latency":"300ms","ramp":true},{"at":"20s","latency":0}],"loop":"30s"}`)
		for _, ms := range []int{100, 200, 300, 150, 0, 0, 100, 200} {
			want := time.Duration(ms) * time.Millisecond
			if got := ask(t, s, "/").Latency; got.Round(time.Microsecond) != want {
				t.Errorf("got %v, want %v", got, want)
			}
			time.Sleep(5 * time.Second)
		}
	})
}

// TestLoops holds that without a period the last stage lasts as long as the one
// before it.
func TestLoops(t *testing.T) {
	for loop, want := range map[string][]int{ // the stage after each second
		"true": {1, 2, 1, 2, 1},
		`"4s"`: {1, 2, 2, 2, 1, 2, 2, 2, 1},
		`2500`: {1, 2, 2, 1, 2, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t, `{"stages":[{},{"at":"1s"}],"loop":`+loop+`}`)
			for second, stage := range want {
				if got := ask(t, s, "/").Stage; got != stage {
					t.Errorf("loop %s, second %d: got stage %d", loop, second, got)
				}
				time.Sleep(time.Second)
			}
		})
	}
}

// TestStartKeepsOneClock holds for a start before and after the load.
func TestStartKeepsOneClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }
		s := play(t, `[{"route":"/past","start":"`+at(-7*time.Second)+`","stages":[{},{"at":"5s","status":503},{"at":"10s","status":201}]},
			{"route":"/future","start":"`+at(7*time.Second)+`","stages":[{"status":503},{"at":"5s","status":201}],"loop":true}]`)
		for _, want := range [][2]int{{503, 200}, {201, 200}, {201, 503}, {201, 201}} {
			if past, future := ask(t, s, "/past").Status, ask(t, s, "/future").Status; past != want[0] || future != want[1] {
				t.Errorf("got %d and %d, want %v", past, future, want)
			}
			time.Sleep(4 * time.Second)
		}
	})
}

// TestSeedRepeats holds that the same requests are answered the same, whatever
// happens to other routes.
func TestSeedRepeats(t *testing.T) {
	run := func(seed string, others int) (got []any) {
		s := play(t, `[{"route":"/a","seed":`+seed+`,"body":"<<20b>>","stages":[{"latency":"0..1s","percent":50,"fault":"empty 20"}]},
			{"route":"/b","seed":`+seed+`,"random_content":"1b..1kb","stages":[{}]}]`)
		for range 50 {
			a := ask(t, s, "/a")
			got = append(got, a.Latency, a.Fault, a.Stage, bodyOf(a))
			for range others {
				ask(t, s, "/b")
			}
		}
		return append(got, ask(t, s, "/b").Length)
	}
	first, second, different := run("42", 0), run("42", 3), run("43", 0)
	same := 0
	for i := range first[:len(first)-1] {
		if first[i] != second[i] {
			t.Fatalf("choice %d: %v and %v", i, first[i], second[i])
		}
		if first[i] == different[i] {
			same++
		}
	}
	if same == len(first)-1 {
		t.Error("another seed makes no difference")
	}
}
