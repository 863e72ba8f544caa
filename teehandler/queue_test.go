// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func newTestQueue(workers, waiting int, run func(job)) *queue {
	return &queue{run: run, workers: workers, waiting: waiting, gauge: prometheus.NewGauge(prometheus.GaugeOpts{})}
}

func TestQueueRunsInOrderAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []time.Time
		q := newTestQueue(1, 100, func(j job) {
			order = append(order, j.deadline)
			time.Sleep(time.Millisecond)
		})
		start := time.Now()
		for i := range 101 {
			if !q.offer(job{deadline: start.Add(time.Duration(i))}) {
				t.Fatalf("job %d was refused", i)
			}
		}
		if q.offer(job{}) {
			t.Error("a job beyond the bound was taken")
		}
		retired := false
		q.retire(func() { retired = true })
		if retired {
			t.Error("retired while jobs run")
		}
		q.waitIdle(start.Add(time.Hour))
		synctest.Wait()
		if len(order) != 101 || !retired || q.running != 0 {
			t.Fatalf("%d jobs ran, retired %v, %d workers are left", len(order), retired, q.running)
		}
		for i, deadline := range order {
			if deadline != start.Add(time.Duration(i)) {
				t.Fatalf("job %d ran out of turn", i)
			}
		}
		if !q.offer(job{}) { // of a request that outlived its configuration
			t.Error("a late job was refused")
		}
		q.waitIdle(time.Now().Add(time.Hour))
	})
}

func TestWaitIdleGivesUpAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(1, 1, func(job) { time.Sleep(time.Minute) })
		q.waitIdle(time.Now()) // nothing runs
		start := time.Now()
		q.offer(job{})
		q.waitIdle(start.Add(time.Second))
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v, want 1s", waited)
		}
		q.waitIdle(start.Add(time.Hour))
	})
}

func TestQueueKeepsItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		lock := make(chan struct{}, 1)
		q := newTestQueue(3, 7, func(job) {
			lock <- struct{}{}
			running++
			most = max(most, running)
			<-lock
			time.Sleep(time.Second)
			lock <- struct{}{}
			running--
			<-lock
		})
		taken := 0
		for range 50 {
			if q.offer(job{}) {
				taken++
			}
		}
		if taken != 10 {
			t.Errorf("%d jobs were taken at once, want 3 and 7 waiting", taken)
		}
		q.waitIdle(time.Now().Add(time.Hour))
		if most != 3 {
			t.Errorf("%d jobs ran at the same time, want 3", most)
		}
	})
}

// waitIdle waits until all jobs are done or the deadline has come.
func (q *queue) waitIdle(deadline time.Time) {
	for {
		q.mu.Lock()
		running := q.running
		q.mu.Unlock()
		if running == 0 || !time.Now().Before(deadline) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
