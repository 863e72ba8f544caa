// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// LateAfter is how long after it was due a request starts to count as late.
// What is below is the machine's own doing.
const LateAfter = 10 * time.Millisecond

// statuses is how many status codes can be told apart.
const statuses = 1000

// Totals is what became of all requests to one target.
type Totals struct {
	Requests  int64               // started
	Answers   int64               // answered completely, whatever the status
	Failures  [send.Kinds]int64   // not answered, by kind
	Status    [statuses]int64     // answers by status code
	Sent      int64               // bytes of requests
	Received  int64               // bytes of answers
	Truncated int64               // sent with a body of which the recording has the beginning only
	Late      int64               // started more than LateAfter after they were due
	Unsent    int64               // due, but not started when the run had to end
	First     time.Duration       // when the first request was due
	Last      time.Duration       // when the last request ended
	Latency   Histogram           // of answered requests, from when they were due
	Service   Histogram           // of answered requests, from when they started
	Lateness  Histogram           // of all requests
	Classes   map[int]*ClassTotal // nil: not told apart

	series *series
}

// ClassTotal is what became of the requests of one class.
type ClassTotal struct {
	Requests, Errors int64
	Latency          Histogram
}

func newTotals() *Totals {
	return &Totals{First: -1, Latency: NewHistogram(3), Service: NewHistogram(3), Lateness: NewHistogram(3)}
}

// Errors is how many requests were not answered. Those that the end of the run
// interrupted are not among them.
func (t *Totals) Errors() int64 {
	var n int64
	for kind, count := range t.Failures {
		if send.Kind(kind) != send.Interrupted {
			n += count
		}
	}
	return n
}

// Elapsed is the time from the first request to the end of the last.
func (t *Totals) Elapsed() time.Duration {
	if t.First < 0 {
		return 0
	}
	return t.Last - t.First
}

// Rate is how many requests per second were answered or failed, 0 of none.
func (t *Totals) Rate() float64 {
	elapsed := t.Elapsed().Seconds()
	if elapsed <= 0 {
		return 0
	}
	return float64(t.Requests) / elapsed
}

func (t *Totals) add(s *Sample) {
	t.Requests++
	t.Sent += s.Sent
	t.Received += s.Received
	if t.First < 0 || s.Due < t.First {
		t.First = s.Due
	}
	t.Last = max(t.Last, s.Ended)
	if s.Truncated {
		t.Truncated++
	}
	if s.Lateness() > LateAfter {
		t.Late++
	}
	t.Lateness.Add(s.Lateness())
	if s.Status > 0 {
		t.Answers++
		t.Status[s.Status]++
		t.Latency.Add(s.Latency())
		t.Service.Add(s.Service())
	} else {
		t.Failures[s.Kind]++
	}
	if s.Class >= 0 {
		t.class(s.Class).add(s)
	}
	if t.series != nil {
		t.series.add(s)
	}
}

func (t *Totals) class(class int) *ClassTotal {
	if t.Classes == nil {
		t.Classes = make(map[int]*ClassTotal)
	}
	c := t.Classes[class]
	if c == nil {
		c = &ClassTotal{Latency: NewHistogram(2)}
		t.Classes[class] = c
	}
	return c
}

func (c *ClassTotal) add(s *Sample) {
	c.Requests++
	if s.Status > 0 {
		c.Latency.Add(s.Latency())
	} else if s.Kind != send.Interrupted {
		c.Errors++
	}
}
