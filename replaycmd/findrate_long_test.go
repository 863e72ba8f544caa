// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package replaycmd

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// A server that is known to take 300 requests a second is found to do so within
// 5 %, in five runs of six.
func TestFindRateFindsAKnownCapacity(t *testing.T) {
	const capacity = 300
	good := 0
	for range 6 {
		s := serve(t, limiter(capacity, 15))
		o := replay(t, "--find-rate", "5xx=0", "--find-rate", "errors=0", "--rate", "100/s", "--duration", "4s", "--report", "json", s.url)
		r := new(report.Report)
		if err := json.Unmarshal([]byte(o.stdout), r); err != nil {
			t.Fatalf("%v: %s", err, o.stderr)
		}
		t.Logf("%s, after %d tries", r.Found, len(r.Found.Tried))
		if math.Abs(r.Found.Rate-capacity) <= 0.05*capacity {
			good++
		}
	}
	if good < 5 {
		t.Errorf("%d of 6 runs are within 5 %%", good)
	}
}
