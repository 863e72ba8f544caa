// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// gcPercent keeps the memory of a long run near that of a short one. What a run
// needs it reuses, so that there is little to collect.
const gcPercent = 50

// Where responses are compared each pair leaves a little behind. A small heap would
// be collected all the time for that; so it is collected when so many bytes have
// piled up, within these percentages of what is in use.
const (
	garbage    = 48 << 20
	mostPerGC  = 300
	leastPerGC = gcPercent
	adaptEvery = 250 * time.Millisecond
)

// collectSeldom collects garbage as a run that compares needs it, until the function
// that it returns is called, which restores how it was.
func collectSeldom() (end func()) {
	before := debug.SetGCPercent(mostPerGC)
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		defer mayFail()
		ticker := time.NewTicker(adaptEvery)
		defer ticker.Stop()
		percent := mostPerGC
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-ticker.C:
				metrics.Read(live)
				if now := perGC(live[0].Value.Uint64()); now != percent {
					percent = now
					debug.SetGCPercent(percent)
				}
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
		debug.SetGCPercent(before)
	}
}

// perGC returns how much garbage may pile up, in percent of what is in use, in steps
// so that not each change of that is one.
func perGC(live uint64) int {
	const step = 25
	return int(min(max(garbage*100/max(live, 1)/step*step, leastPerGC), mostPerGC))
}
