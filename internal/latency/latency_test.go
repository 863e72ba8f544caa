// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// draws returns n sorted draws from a seeded source.
func draws(t *testing.T, text string, n int) []time.Duration {
	t.Helper()
	l, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	source := Seeded(42)
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = l.Sample(source)
	}
	slices.Sort(all)
	return all
}

func at(sorted []time.Duration, percent float64) time.Duration {
	return sorted[int(float64(len(sorted))*percent/100)]
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestRangeFillsEveryDecile(t *testing.T) {
	all := draws(t, "10ms..100ms", 1000)
	var deciles [10]int
	for _, d := range all {
		deciles[min(9, int((d-10*time.Millisecond)/(9*time.Millisecond)))]++
	}
	for i, n := range deciles {
		if n < 70 || n > 130 {
			t.Errorf("decile %d holds %d of 1000 draws", i, n)
		}
	}
	if all[0] < 10*time.Millisecond || all[999] > 100*time.Millisecond {
		t.Errorf("draws go from %s to %s", all[0], all[999])
	}
}

func TestLognormalShape(t *testing.T) {
	for _, tc := range []struct {
		text          string
		median, sigma float64
	}{
		{"lognormal(80ms,0.4)", 80, 0.4},
		{"lognormal(70ms,0.3)", 70, 0.3},
	} {
		all := draws(t, tc.text, 10_000)
		median := float64(at(all, 50)) / 1e6
		near(t, tc.text+" median", median, tc.median, 0.03)
		near(t, tc.text+" p84/median", float64(at(all, 84.13))/1e6/median, math.Exp(tc.sigma), 0.05)
		near(t, tc.text+" p16/median", float64(at(all, 15.87))/1e6/median, math.Exp(-tc.sigma), 0.05)
		near(t, tc.text+" p99", float64(at(all, 99))/1e6, tc.median*math.Exp(tc.sigma*2.3263), 0.05)
	}
}

// TestCapDrawsAgain holds that what lies above a cap is spread over what lies
// below, as if it were drawn again, and not heaped up at the cap.
func TestCapDrawsAgain(t *testing.T) {
	all := draws(t, "lognormal(70ms,0.5,90ms)", 10_000)
	if highest := all[len(all)-1]; highest > 90*time.Millisecond {
		t.Errorf("%s was drawn", highest)
	}
	heap := len(all) - countBelow(all, 89*time.Millisecond)
	if heap > 300 {
		t.Errorf("%d of 10000 draws are at the cap", heap)
	}
	// 69.25% of lognormal(70ms,0.5) is below 90 ms; half of that is below 57 ms.
	near(t, "median", float64(at(all, 50)), float64(56_600*time.Microsecond), 0.03)
}

func countBelow(sorted []time.Duration, d time.Duration) int {
	i, _ := slices.BinarySearch(sorted, d)
	return i
}

func TestNormalShape(t *testing.T) {
	all := draws(t, "normal(80ms,10ms)", 10_000)
	near(t, "median", float64(at(all, 50)), 80e6, 0.01)
	near(t, "p84", float64(at(all, 84.13)), 90e6, 0.02)
	near(t, "p2.3", float64(at(all, 2.275)), 60e6, 0.03)
	if lowest := draws(t, "normal(10ms,20ms)", 1000)[0]; lowest != 0 {
		t.Errorf("the lowest draw is %s", lowest)
	}
}

func TestPercentilesAreTheGivenOnes(t *testing.T) {
	all := draws(t, "p50=20ms,p90=80ms,p99=300ms", 100_000)
	near(t, "p50", float64(at(all, 50)), 20e6, 0.03)
	near(t, "p90", float64(at(all, 90)), 80e6, 0.03)
	near(t, "p99", float64(at(all, 99)), 300e6, 0.05)
	if lowest := all[0]; lowest <= 0 || lowest >= 5*time.Millisecond {
		t.Errorf("the lowest draw is %s", lowest)
	}
	if highest := all[len(all)-1]; highest <= 300*time.Millisecond {
		t.Errorf("nothing lies above p99: the highest draw is %s", highest)
	}
}

func TestPercentileBounds(t *testing.T) {
	all := draws(t, "p0=15ms,p50=20ms,p90=80ms,p99=300ms,p100=400ms", 10_000)
	if all[0] != 15*time.Millisecond || all[len(all)-1] != 400*time.Millisecond {
		t.Errorf("draws go from %s to %s", all[0], all[len(all)-1])
	}
}

func TestQuantilesNeverFall(t *testing.T) {
	for _, text := range []string{
		"1ms..2ms", "lognormal(70ms,0.3)", "lognormal(70ms,3,100ms)", "normal(1ms,2ms)",
		"p50=20ms,p90=20ms,p99=300ms", "p0=1ms,p1=1ms,p99=1h,p100=1h",
	} {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for i := range 10_000 {
			q := l.quantile((float64(i) + 0.5) / 10_000)
			if !(q >= last) {
				t.Fatalf("%s: quantile %d falls from %v to %v", text, i, last, q)
			}
			last = q
		}
	}
}

func TestExtremesStayDurations(t *testing.T) {
	for _, text := range []string{"lognormal(2540400h,1e300)", "p1=1ns,p2=2540400h", "normal(2540400h,2540400h)"} {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		source := Seeded(7)
		for range 1000 {
			if d := l.Sample(source); d < 0 {
				t.Fatalf("%s gave %s", text, d)
			}
			if d := DrawBetween(l, l, 1, source.Uint64()); d < 0 {
				t.Fatalf("%s gave %s between itself and itself", text, d)
			}
		}
	}
}

func TestDrawBetween(t *testing.T) {
	from, to := Fixed(100*time.Millisecond), Fixed(200*time.Millisecond)
	for _, tc := range []struct {
		share float64
		want  time.Duration
	}{
		{-1, 100 * time.Millisecond},
		{0, 100 * time.Millisecond},
		{0.25, 125 * time.Millisecond},
		{1, 200 * time.Millisecond},
		{2, 200 * time.Millisecond},
	} {
		if got := DrawBetween(from, to, tc.share, Random().Uint64()); got != tc.want {
			t.Errorf("share %v: got %s, want %s", tc.share, got, tc.want)
		}
	}
	if got := DrawBetween(Latency{}, to, 0.5, Random().Uint64()); got != 100*time.Millisecond {
		t.Errorf("half way from nothing: got %s", got)
	}
}

// TestDrawBetweenMovesEveryPercentile holds that the way from a narrow to a
// wide latency is a latency in between, not now the one and now the other.
func TestDrawBetweenMovesEveryPercentile(t *testing.T) {
	from, to := Fixed(100*time.Millisecond), Latency{spread{200e6, 400e6}}
	source := Seeded(3)
	all := make([]time.Duration, 10_000)
	for i := range all {
		all[i] = DrawBetween(from, to, 0.5, source.Uint64())
	}
	slices.Sort(all)
	near(t, "p10", float64(at(all, 10)), 160e6, 0.02)
	near(t, "median", float64(at(all, 50)), 200e6, 0.02)
	near(t, "p90", float64(at(all, 90)), 240e6, 0.02)
}

func TestSeededRepeats(t *testing.T) {
	a, b, other := Seeded(1), Seeded(1), Seeded(2)
	same := 0
	for range 100 {
		x, y := a.Uint64(), b.Uint64()
		if x != y {
			t.Fatal("the same seed gave different numbers")
		}
		if x == other.Uint64() {
			same++
		}
	}
	if same > 0 {
		t.Errorf("another seed gave %d of the same numbers", same)
	}
}

func TestSourcesAreSafeForManyGoroutines(t *testing.T) {
	seeded, seen := Seeded(9), new(sync.Map)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				Random().Uint64()
				if _, twice := seen.LoadOrStore(seeded.Uint64(), true); twice {
					t.Error("a number came twice")
				}
			}
		})
	}
	wg.Wait()
}

func TestSampleDoesNotAllocate(t *testing.T) {
	source := Seeded(1)
	for _, text := range []string{"1ms", "1ms..2ms", "lognormal(70ms,0.3,2s)", "normal(80ms,10ms)", "p50=20ms,p90=80ms"} {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { l.Sample(source) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for _, text := range []string{"50ms", "1ms..2ms", "lognormal(70ms,0.3)", "p50=20ms,p90=80ms,p99=300ms"} {
		l, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			source := Random()
			for b.Loop() {
				l.Sample(source)
			}
		})
	}
}

// only is a source of one number.
type only uint64

func (n only) Uint64() uint64 { return uint64(n) }

// TestTheOutermostDraws holds that the least and the largest draw are within
// the open interval, where every form has a value.
func TestTheOutermostDraws(t *testing.T) {
	for _, source := range []only{0, math.MaxUint64} {
		if u := uniform(source.Uint64()); !(u > 0 && u < 1) {
			t.Errorf("of %x: got %v", uint64(source), u)
		}
		for _, text := range []string{"lognormal(1s,0.1)", "p50=1s,p99=2s", "p50=1s,p90=2s,p99=3s"} {
			l, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Sample(source); got < 10*time.Millisecond || got > time.Minute {
				t.Errorf("%s of %x: got %s", text, uint64(source), got)
			}
		}
	}
}
