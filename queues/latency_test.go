// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package queues

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestLatencyFollowsItsFormula sends requests at an even rate, and holds what a client
// measures to the formula, within the tolerance that draws have.
func TestLatencyFollowsItsFormula(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, median, sigma = 10_000, 50 * time.Millisecond, 0.5
		b := brokertest.NewMemory()
		came := answers(b)
		receive(t, b, `{"seed": 42, "stages": [{"at": 0, "latency": "lognormal(50ms,0.5)"}]}`, "a")
		synctest.Wait()
		sent := make(map[string]time.Time)
		for i := range count {
			d := ask("a", i)
			sent[d.ID.(string)] = time.Now()
			b.Put(d)
			time.Sleep(5 * time.Millisecond)
		}
		pass(time.Minute)
		if len(came()) != count {
			t.Fatalf("%d answers of %d", len(came()), count)
		}
		took := make([]time.Duration, 0, count)
		for id, at := range came() {
			took = append(took, at.Sub(sent[id]))
		}
		slices.Sort(took)
		for _, q := range []struct{ percent, normal, tolerance float64 }{{50, 0, 0.03}, {90, 1.2816, 0.05}, {99, 2.3263, 0.05}} {
			got, want := took[int(count*q.percent/100)], float64(median)*math.Exp(sigma*q.normal)
			if math.Abs(float64(got)/want-1) > q.tolerance {
				t.Errorf("p%g is %s, want %s within %g", q.percent, got, time.Duration(want), q.tolerance)
			}
		}
	})
}
