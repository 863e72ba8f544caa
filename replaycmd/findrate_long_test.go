// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package replaycmd

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	_ "github.com/caddy-rehearsal/rehearsal/simulator"
)

// A server that is known to take 300 requests a second is found to do so within
// 5 %, in five runs of six.
func TestFindRateFindsAKnownCapacity(t *testing.T) {
	findsCapacity(t, 300, func() string { return serve(t, limiter(300, 15)).url }, "--find-rate", "5xx=0", "--find-rate", "errors=0")
}

// A simulator that takes 100 ms, behind a proxy that asks it 20 things at once, is
// found to take 200 requests a second: what is more piles up.
func TestFindRateFindsTheCapacityOfASimulator(t *testing.T) {
	simulator, limit := caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, "http://"+simulator+" {\n\tsimulator {\n\t\tstage 0s 200 100ms\n\t}\n}\nhttp://"+limit+
		" {\n\treverse_proxy "+simulator+" {\n\t\ttransport http {\n\t\t\tmax_conns_per_host 20\n\t\t}\n\t}\n}\n")
	findsCapacity(t, 200, func() string { return "http://" + limit + "/" }, "--find-rate", "p99<150ms", "--find-rate", "5xx=0", "-c", "200")
}

// findsCapacity searches six times, and expects the capacity within 5 % five times.
func findsCapacity(t *testing.T, capacity float64, server func() string, args ...string) {
	t.Helper()
	good := 0
	for range 6 {
		o := replay(t, append(args, "--rate", "100/s", "--duration", "4s", "--report", "json", server())...)
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
