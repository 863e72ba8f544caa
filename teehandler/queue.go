// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// job is a copy on its way to a shadow.
type job struct {
	copied   *snapshot
	deadline time.Time
}

// queue runs jobs, a bounded number at a time, and keeps a bounded number
// waiting. Its workers start when there is something to do and end when there
// is not.
type queue struct {
	run              func(job)
	workers, waiting int              // the bounds
	gauge            prometheus.Gauge // how many are waiting

	mu      sync.Mutex
	running int
	jobs    []job // a ring that grows up to the bound
	first   int
	length  int
	retired func()        // called once when nothing runs
	idle    chan struct{} // closed when nothing runs, if somebody waits
}

// offer starts a job or puts it at the end, and never blocks. It tells if there
// was room.
func (q *queue) offer(j job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.running < q.workers:
		q.running++
		go q.work(j)
	case q.length < q.waiting:
		q.push(j)
	default:
		return false
	}
	return true
}

func (q *queue) work(j job) {
	for more := true; more; {
		q.run(j)
		j, more = q.next()
	}
}

// next gives a worker its next job, or ends it.
func (q *queue) next() (job, bool) {
	q.mu.Lock()
	if q.length > 0 {
		defer q.mu.Unlock()
		return q.pop(), true
	}
	q.running--
	retired := q.settle()
	q.mu.Unlock()
	retired()
	return job{}, false
}

// settle tells those who wait if nothing runs. What it returns is to be called
// without the lock.
func (q *queue) settle() (retired func()) {
	retired = func() {}
	if q.running > 0 {
		return retired
	}
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
	if q.retired != nil {
		retired, q.retired = q.retired, nil
	}
	return retired
}

// retire calls f once all jobs are done.
func (q *queue) retire(f func()) {
	q.mu.Lock()
	q.retired = f
	retired := q.settle()
	q.mu.Unlock()
	retired()
}

// waitIdle waits until all jobs are done or the deadline has come.
func (q *queue) waitIdle(deadline time.Time) {
	q.mu.Lock()
	if q.running == 0 {
		q.mu.Unlock()
		return
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()

	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

func (q *queue) push(j job) {
	if q.length == len(q.jobs) {
		grown := make([]job, min(q.waiting, max(16, 2*q.length)))
		n := copy(grown, q.jobs[q.first:])
		copy(grown[n:], q.jobs[:q.first])
		q.jobs, q.first = grown, 0
	}
	q.jobs[(q.first+q.length)%len(q.jobs)] = j
	q.length++
	q.gauge.Inc()
}

func (q *queue) pop() job {
	j := q.jobs[q.first]
	q.jobs[q.first] = job{}
	q.first = (q.first + 1) % len(q.jobs)
	q.length--
	q.gauge.Dec()
	return j
}
