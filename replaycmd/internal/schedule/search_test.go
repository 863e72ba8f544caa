// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// With one try in twenty gone wrong by chance, five searches in six end within 5 %
// of what holds.
func TestASearchFindsACapacity(t *testing.T) {
	const runs = 600
	good, most := 0, 0
	for run := range runs {
		random := rand.New(rand.NewPCG(uint64(run), 0))
		capacity := math.Exp(random.Float64() * 9) // 1 to 8,000 per second
		tries := 0
		search := Search{Start: 50, Try: func(rate float64) (Verdict, error) {
			tries++
			if (rate > capacity) != (random.IntN(20) == 0) {
				return Failed, nil
			}
			return Held, nil
		}}
		found, err := search.Run()
		if err != nil {
			t.Fatal(err)
		}
		if text := strconv.FormatFloat(found.Rate, 'f', -1, 64); len(text) > 6 {
			t.Fatalf("%s has more digits than anybody wants", text)
		}
		if math.Abs(found.Rate-capacity) <= 0.05*capacity {
			good++
		}
		most = max(most, tries)
	}
	t.Logf("%d of %d searches within 5 %%, %d tries at most", good, runs, most)
	if good < runs*5/6 || most > maxTries+2 {
		t.Errorf("%d of %d searches end within 5 %%, after up to %d tries", good, runs, most)
	}
}

func TestASearchEndsWhereThereIsNothingToFind(t *testing.T) {
	stop := errors.New("stop")
	for name, tc := range map[string]struct {
		try   func(float64) (Verdict, error)
		check func(Found, error) bool
	}{
		"nothing holds":    {func(float64) (Verdict, error) { return Failed, nil }, func(f Found, err error) bool { return f.Rate == 0 && f.Above < 0.2 && err == nil }},
		"everything holds": {func(float64) (Verdict, error) { return Held, nil }, func(f Found, err error) bool { return f.Rate == highestRate && f.Above == 0 && err == nil }},
		"this machine ends": {func(r float64) (Verdict, error) {
			if r > 777 {
				return Limited, nil
			}
			return Held, nil
		}, func(f Found, err error) bool { return f.Limited && f.Rate <= 777 && f.Rate > 740 && err == nil }},
		"broken off": {func(r float64) (Verdict, error) {
			if r > 300 {
				return Failed, stop
			}
			return Held, nil
		}, func(f Found, err error) bool { return f.Rate == 200 && f.Above == 0 && errors.Is(err, stop) }},
		"chance alone": {func(float64) (Verdict, error) { return Verdict(rand.IntN(2)), nil }, func(_ Found, err error) bool { return err == nil }},
	} {
		search := Search{Start: 50, Try: tc.try}
		if f, err := search.Run(); !tc.check(f, err) {
			t.Errorf("%s: found %+v, error %v", name, f, err)
		}
	}
}
