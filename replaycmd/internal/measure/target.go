// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"sync"
	"time"
)

// Target takes what became of the requests to one target.
type Target struct {
	rows    func(Row) // nil: none are wanted
	mu      sync.Mutex
	totals  *Totals
	senders []*Sender
}

// NewTarget begins to count. If rows is not nil it gets a row for every second
// of the run, in order, when that is over.
func NewTarget(rows func(Row)) *Target {
	t := &Target{rows: rows, totals: newTotals()}
	if rows != nil {
		t.totals.series = new(series)
	}
	return t
}

// Sender gives one more sender its own place to count in.
func (t *Target) Sender() *Sender {
	s := &Sender{target: t, samples: make([]Sample, 0, batch)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.senders = append(t.senders, s)
	return s
}

// AddUnsent counts a request that was due but could not be started.
func (t *Target) AddUnsent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Unsent++
}

// collect takes in what senders still keep.
func (t *Target) collect() {
	t.mu.Lock()
	senders := t.senders
	t.mu.Unlock()
	for _, s := range senders {
		s.mu.Lock()
		s.handOver()
		s.mu.Unlock()
	}
}

// Counts gives the number of requests that have ended and of errors among them.
func (t *Target) Counts() (requests, errors int64) {
	t.collect()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.totals.Requests, t.totals.Errors()
}

// Tick gives out the rows of the seconds that are over at the given time since
// the start.
func (t *Target) Tick(now time.Duration) {
	t.collect()
	t.giveOut(func(s *series) []Row { return s.close(int(now / time.Second)) })
}

// giveOut gives out the rows that are taken from the series. Whoever gets them
// may be slow: senders don't wait for that.
func (t *Target) giveOut(take func(*series) []Row) {
	if t.rows == nil {
		return
	}
	t.mu.Lock()
	rows := take(t.totals.series)
	t.mu.Unlock()
	for _, row := range rows {
		t.rows(row)
	}
}

// Finish gives all there was, after the last sender has ended.
func (t *Target) Finish() *Totals {
	t.collect()
	t.giveOut(func(s *series) []Row { return s.close(s.end()) })
	return t.totals
}
