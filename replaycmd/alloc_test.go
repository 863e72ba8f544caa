// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package replaycmd

import (
	"io"
	"math"
	"net"
	"runtime"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// constant answers every request of a connection with the same bytes and needs
// no memory for that.
func constant(t *testing.T) send.Target {
	t.Helper()
	target, err := send.ParseTarget(peertest.Serve(t, func(conn *net.TCPConn) {
		buf, response := make([]byte, 4096), []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		for {
			if _, err := conn.Read(buf); err != nil { // a request is one write
				return
			}
			if _, err := conn.Write(response); err != nil {
				return
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// limited ends a source after n records.
type limited struct{ n int }

func (l *limited) Next() (*recording.Request, error) {
	if l.n == 0 {
		return nil, io.EOF
	}
	l.n--
	return &one, nil
}

// What a run needs it has after its first requests. The race detector needs
// memory of its own.
func TestSendingDoesNotAllocate(t *testing.T) {
	for name, plan := range map[string]schedule.Schedule{"max": {}, "rate": {Rate: schedule.Steady(20_000)}} {
		target := constant(t)
		allocations := func(n int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			results, err := deliver(t, &delivery{records: &limited{n}, targets: []send.Target{target}, schedule: plan, connections: 4}, t.Context())
			runtime.ReadMemStats(&after)
			if err != nil || results[0].Answered != int64(n) {
				t.Fatalf("%s: %d answers, error %v", name, results[0].Answered, err)
			}
			return after.Mallocs - before.Mallocs
		}
		perRequest := math.Inf(1)
		for range 10 { // where the machine stalls, more requests wait at once than ever before
			few, many := allocations(1000), allocations(11_000)
			if perRequest = min(perRequest, float64(many-min(few, many))/10_000); perRequest <= 0.1 {
				break
			}
		}
		if perRequest > 0.1 {
			t.Errorf("%s: %.2f allocations per request", name, perRequest)
		}
	}
}
