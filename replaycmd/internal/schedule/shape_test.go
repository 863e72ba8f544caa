// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"strings"
	"testing"
	"time"
)

// The requests that are due are the integral of the rate, to one, at every time.
func TestDueRequestsAreTheIntegralOfTheRate(t *testing.T) {
	for text, integral := range map[string]func(s float64) float64{
		"50/s":        func(s float64) float64 { return 50 * s },
		"10/s..200/s": func(s float64) float64 { return 10*s + 190.0/120*s*s },
		"200/s..0/s":  func(s float64) float64 { return 200*s - 200.0/120*s*s },
		"0s:10/s 30s:200/s 60s:200/s": func(s float64) float64 {
			if s < 30 {
				return 10*s + 190.0/60*s*s
			}
			return 10*30 + 190.0/60*900 + 200*(s-30)
		},
		"0s:100/s 10s:100/s 10s:0/s 20s:0/s 20s:1/s 60s:1/s": func(s float64) float64 {
			return 100*math.Min(s, 10) + math.Max(0, s-20)
		},
	} {
		shape, err := ParseShape(text)
		if err != nil {
			t.Fatal(err)
		}
		if shape, err = shape.Within(time.Minute); err != nil {
			t.Fatal(err)
		}
		s := Schedule{Rate: shape}
		n, last := 0, time.Duration(0)
		for {
			due := s.Next(0)
			if due >= time.Minute {
				break
			}
			if due < last {
				t.Fatalf("%s: request %d is due before the one before it", text, n)
			}
			last = due
			if want := integral(due.Seconds()); math.Abs(want-float64(n)) > 1 {
				t.Fatalf("%s: %d requests are due at %v, the integral is %v", text, n, due, want)
			}
			n++
		}
		if want := integral(60); math.Abs(want-float64(n)) > 1 {
			t.Errorf("%s: %d requests are due in a minute, the integral is %v", text, n, want)
		}
		if mean := shape.Mean(time.Minute); math.Abs(mean*60-integral(60)) > 1e-6 {
			t.Errorf("%s: mean %v", text, mean)
		}
		if mean := shape.Mean(15 * time.Second); math.Abs(mean*15-integral(15)) > 1e-6 {
			t.Errorf("%s: mean of 15 s %v", text, mean)
		}
	}
}

func TestPoissonArrivalsAreSeededAndKeepTheRate(t *testing.T) {
	count := func(text string, seed uint64) (n int, gaps float64) {
		shape, _ := ParseShape(text)
		shape, _ = shape.Within(time.Minute)
		s := Schedule{Rate: shape, Poisson: true, Seed: seed}
		var last time.Duration
		for {
			due := s.Next(0)
			if due >= time.Minute {
				return n, gaps
			}
			gaps += math.Pow((due - last).Seconds(), 2)
			last = due
			n++
		}
	}
	for text, want := range map[string]float64{"100/s": 6000, "10/s..200/s": 6300, "0s:0/s 60s:200/s": 6000} {
		for seed := range uint64(20) {
			if n, _ := count(text, seed); math.Abs(float64(n)-want) > 4*math.Sqrt(want) {
				t.Errorf("%s with seed %d: %d requests, not %v", text, seed, n, want)
			}
		}
	}
	a, gaps := count("100/s", 1)
	if b, _ := count("100/s", 1); a != b {
		t.Errorf("one seed makes %d and %d", a, b)
	}
	// the mean square of exponential gaps is twice that of even ones
	if ratio := gaps / float64(a) * 100 * 100; ratio < 1.7 || ratio > 2.3 {
		t.Errorf("the gaps' mean square is %v of even ones", ratio)
	}
}

func TestShapesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"": "is not a rate", "0/s": "is not a rate", "1/s..": "is not a ramp", "..": "is not a ramp", "x..1/s": "is not a ramp",
		"5s:1/s 9s:2/s": "expected its first point at 0s", "0s:1/s": "has no end", "0s:1/s 0s:2/s": "has no end",
		"0s:1/s 9s:2/s 5s:1/s": "is before the point", "0s:1/s 5s": "is not a point", "0s:1/s x:1/s": "is not a point", "0s:1/s 5s:-1/s": "is not a rate",
		"0s:0/s 1s:0/s": "expected a point with a rate above 0", "0s:0/s 1s:0/s 1s:9/s": "sends nothing", "0/s..0/s": "expected a rate above 0 at one end",
		"0s:1/s" + strings.Repeat(" 1s:1/s", maxPoints): "more than 1000 points",
	} {
		if _, err := ParseShape(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", text, err, want)
		}
	}
	ramp, err := ParseShape("1/s..2/s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ramp.Within(0); err == nil || !strings.Contains(err.Error(), "expected --duration") {
		t.Errorf("a ramp without an end: %v", err)
	}
}

func FuzzParseShape(f *testing.F) {
	for _, text := range []string{"0s:10/s 30s:200/s 2m:200/s", "10/s..200/s", "1/s", "0s:0/s 1ns:1e9/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shape, err := ParseShape(text)
		if err != nil {
			return
		}
		if shape, err = shape.Within(time.Second); err != nil {
			t.Fatal(err)
		}
		s := Schedule{Rate: shape}
		last := time.Duration(-1)
		for range 1000 {
			due := s.Next(0)
			if due < last {
				t.Fatalf("%q: %v follows %v", text, due, last)
			}
			last = due
		}
	})
}
