// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package queues_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestRabbitMQManyAsleep has all requests sleep for a second at once, in a process of
// its own whose memory is stated.
func TestRabbitMQManyAsleep(t *testing.T) {
	b := brokertest.RunRabbitMQ(t)
	for _, tc := range []struct {
		count int
		most  float64 // seconds
	}{{1000, 2}, {10_000, 4}} {
		t.Run(fmt.Sprint(tc.count), func(t *testing.T) {
			address := fmt.Sprint("/queue/asleep", tc.count)
			p := suite{address: address, broker: overAMQP(b)}.start(t, "stage 0s 1s", fmt.Sprint("concurrency ", tc.count))
			p.receiving()
			idle := p.memory("VmRSS")
			o := asker{"amqp://guest:guest@" + b.AMQP, address, fmt.Sprint("/queue/awake", tc.count)}.ask(t, tc.count, 0)
			o.expect(t, tc.count)
			if o.Took > tc.most {
				t.Errorf("it took %.2f s, want %g at most", o.Took, tc.most)
			}
			t.Logf("%d MiB when idle, %d MiB at most", idle>>10, p.memory("VmHWM")>>10)
		})
	}
}

// memory returns what the kernel says of the process, in KiB.
func (p *process) memory(field string) (kib int) {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), field+":")
	if _, err := fmt.Sscan(text, &kib); err != nil {
		p.t.Fatal(err)
	}
	return kib
}

// TestRabbitMQLatency sends requests at an even rate, and holds what the client measures to
// the formula. What it measures beyond a latency of 50 ms at the same time, the way
// through the broker, is taken off.
func TestRabbitMQLatency(t *testing.T) {
	const count, median, sigma = 10_000, 50.0, 0.5
	b := brokertest.RunRabbitMQ(t)
	s := &simulator{t: t, admin: caddytest.Addr(t)}
	s.Server = caddytest.Run(t, configOf(s.admin, overAMQP(b),
		"service /queue/fixed {\nstage 0s 50ms\n}", "service /queue/drawn {\nseed 42\nstage 0s lognormal(50ms,0.5)\n}"))
	caddytest.Eventually(t, "both are received from", func() bool {
		all := s.status()
		return all["/queue/fixed"].Receiving && all["/queue/drawn"].Receiving
	})
	var fixed, drawn []float64
	t.Run("ask", func(t *testing.T) {
		for _, side := range []struct {
			address string
			count   int
			took    *[]float64
		}{{"/queue/fixed", count / 5, &fixed}, {"/queue/drawn", count, &drawn}} {
			t.Run(side.address, func(t *testing.T) {
				t.Parallel()
				every := 30 * time.Second / time.Duration(side.count)
				o := asker{"amqp://guest:guest@" + b.AMQP, side.address, side.address + ".answers"}.ask(t, side.count, every)
				o.expect(t, side.count)
				*side.took = slices.Sorted(slices.Values(o.Latencies))
			})
		}
	})
	way := fixed[len(fixed)/2] - 50
	for _, q := range []struct {
		percent           int
		normal, tolerance float64
	}{{50, 0, 0.03}, {90, 1.2816, 0.05}, {99, 2.3263, 0.05}} {
		got, want := drawn[len(drawn)*q.percent/100]-way, median*math.Exp(sigma*q.normal)
		t.Logf("p%d is %.1f ms, want %.1f; the way takes %.2f ms", q.percent, got, want, way)
		if math.Abs(got/want-1) > q.tolerance {
			t.Errorf("p%d is %.1f ms, want %.1f within %g", q.percent, got, want, q.tolerance)
		}
	}
}
