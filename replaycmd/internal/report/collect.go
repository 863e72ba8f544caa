// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"sync"
	"time"
)

// Interrupted is the failure of a request that the end of the run broke off. It
// is no error.
const Interrupted = "interrupted"

// Sample is what became of one request. Times are counted from the start of
// the run.
type Sample struct {
	Due     time.Duration // when it was to start; without a schedule, when it did
	Started time.Duration // when it started
	Ended   time.Duration // when its response was complete, or failed
	Busy    bool          // if it is late, that is for want of a free connection
	Waited  bool          // if it is late, that is since it waited for the answer to another
	Status  int           // of the response; 0: none came
	Failure string        // the kind of failure for which none came, a constant
	Class   int           // by what requests are told apart; -1: not at all

	Sent, Received int64 // bytes
	Truncated      bool  // only the beginning of the body was sent

	// How far ahead of this machine's clock the server's is at least and at most,
	// by the Date of its response. Both 0: it had none.
	AheadLeast, AheadMost time.Duration
}

// latency returns the time from when the request was due to the end of its response.
func (s *Sample) latency() time.Duration { return s.Ended - s.Due }

// service returns the time from when the request started to the end of its response.
func (s *Sample) service() time.Duration { return s.Ended - s.Started }

// lateness returns how long after it was due the request started.
func (s *Sample) lateness() time.Duration { return s.Started - s.Due }

// isError reports whether the request failed otherwise than by the end of the run.
func (s *Sample) isError() bool { return s.Status == 0 && s.Failure != Interrupted }

// batchSize is how many samples a connection keeps before it hands them over.
const batchSize = 64

// Batch takes the samples of one connection.
type Batch struct {
	mu        sync.Mutex // contended only by Collector.collect
	collector *Collector
	samples   []Sample
}

// Add takes one sample.
func (b *Batch) Add(sample Sample) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.samples = append(b.samples, sample)
	if len(b.samples) == batchSize {
		b.handOver()
	}
}

// handOver moves the samples to the collector. The batch is locked.
func (b *Batch) handOver() {
	b.collector.mu.Lock()
	defer b.collector.mu.Unlock()
	for i := range b.samples {
		b.collector.totals.add(&b.samples[i])
	}
	b.samples = b.samples[:0]
}

// Collector counts what becomes of the requests to one target: in memory that
// does not grow with them, and without a lock at which connections would wait
// for one another.
type Collector struct {
	rows    func(Row) // nil: none are wanted
	mu      sync.Mutex
	totals  *Totals
	batches []*Batch
}

// NewCollector begins to count. If rows is not nil it is called for every second
// of the run, in order, when that is over.
func NewCollector(rows func(Row)) *Collector {
	c := &Collector{rows: rows, totals: newTotals()}
	if rows != nil {
		c.totals.series = new(series)
	}
	return c
}

// NewBatch returns the place where one more connection counts.
func (c *Collector) NewBatch() *Batch {
	b := &Batch{collector: c, samples: make([]Sample, 0, batchSize)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, b)
	return b
}

// AddUnsent counts a request that was due at a time but could not be started.
func (c *Collector) AddUnsent(due time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Unsent++
	c.totals.timeline.at(due).due++
}

// AddUnlinked counts a request that was not sent, at a time and of a class, since
// what it needs was in no answer.
func (c *Collector) AddUnlinked(at time.Duration, class int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Unlinked++
	c.totals.timeline.at(at).unlinked++
	if class >= 0 {
		c.totals.class(class).Unlinked++
	}
	if c.totals.series != nil {
		c.totals.series.at(at).Unlinked++
	}
}

// collect takes in what batches still keep.
func (c *Collector) collect() {
	c.mu.Lock()
	batches := c.batches
	c.mu.Unlock()
	for _, b := range batches {
		b.mu.Lock()
		b.handOver()
		b.mu.Unlock()
	}
}

// Counts returns the number of requests that have ended and of errors among them.
func (c *Collector) Counts() (requests, errors int64) {
	c.collect()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.totals.Requests, c.totals.Errors()
}

// Running is what became of a target's requests up to a moment.
type Running struct {
	Requests, Errors int64
	P50, P99         time.Duration // of the latencies; 0 without an answer
}

// Running returns what became of the requests up to now.
func (c *Collector) Running() Running {
	c.collect()
	c.mu.Lock()
	defer c.mu.Unlock()
	return Running{c.totals.Requests, c.totals.Errors(), c.totals.Latency.At(50), c.totals.Latency.At(99)}
}

// Tick passes on the rows of the seconds that are over at the given time since
// the start.
func (c *Collector) Tick(now time.Duration) {
	c.collect()
	c.passOn(func(s *series) []Row { return s.close(int(now / time.Second)) })
}

// passOn passes on the rows that are taken from the series. Whoever gets them
// may be slow: connections don't wait for that.
func (c *Collector) passOn(take func(*series) []Row) {
	if c.rows == nil {
		return
	}
	c.mu.Lock()
	rows := take(c.totals.series)
	c.mu.Unlock()
	for _, row := range rows {
		c.rows(row)
	}
}

// Finish returns all there was, after the last connection has ended.
func (c *Collector) Finish() *Totals {
	c.collect()
	c.passOn(func(s *series) []Row { return s.close(s.end()) })
	return c.totals
}
