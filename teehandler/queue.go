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
	retired func() // called once when nothing runs
}

// offer starts a job or puts it at the end, and never blocks. It reports whether
// that was within the bounds.
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

// next returns the worker's next job, or ends the worker.
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

// settle returns what is to be called, without the lock, if nothing runs.
func (q *queue) settle() (retired func()) {
	if q.running > 0 || q.retired == nil {
		return func() {}
	}
	retired, q.retired = q.retired, nil
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
