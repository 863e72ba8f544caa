// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import "time"

// LateAfter is how long after it was due a request starts to count as late.
// What is below is the machine's own doing.
const LateAfter = 10 * time.Millisecond

const (
	statuses      = 1000 // status codes that can be told apart
	statusClasses = 6    // hundreds of status codes up to 5xx; those of 600 and more are of no class
)

// classOf returns the hundred of a status, or 0 if it is of no class.
func classOf(status int) int {
	if hundred := status / 100; hundred < statusClasses {
		return hundred
	}
	return 0
}

// Totals is what became of all requests to one target.
type Totals struct {
	Requests    int64               // started
	Answered    int64               // with a whole response, whatever its status
	Failures    map[string]int64    // not answered, by kind
	Status      [statuses]int64     // responses by status code
	Sent        int64               // bytes of requests
	Received    int64               // bytes of responses
	Truncated   int64               // sent with a body of which the recording has the beginning only
	Late        int64               // started more than LateAfter after they were due
	LateBusy    int64               // of these, for want of a free connection
	LateWaiting int64               // and since they waited for the answer to another
	Unsent      int64               // due, but not started
	Unlinked    int64               // not sent, since what they need was in no answer
	First       time.Duration       // when the first request was due; below 0: there was none
	LastStarted time.Duration       // when the last request started
	Last        time.Duration       // when the last request ended
	Latency     *Histogram          // of answered requests, from when they were due
	Service     *Histogram          // of answered requests, from when they started
	Lateness    *Histogram          // of all requests
	Classes     map[int]*ClassTotal // nil: not told apart

	drift    drift
	timeline *timeline
	series   *series // nil: nobody wants the seconds one by one
}

// ClassTotal is what became of the requests of one class.
type ClassTotal struct {
	Requests, Errors int64
	Unlinked         int64         // that were not sent
	Status           map[int]int64 // responses by status code
	Latency          *Histogram
}

func newTotals() *Totals {
	return &Totals{
		First: -1, Failures: make(map[string]int64),
		Latency: NewHistogram(3), Service: NewHistogram(3), Lateness: NewHistogram(3), timeline: new(timeline),
	}
}

// Errors returns how many requests were not answered. Those that the end of the
// run interrupted are not among them.
func (t *Totals) Errors() int64 {
	var n int64
	for kind, count := range t.Failures {
		if kind != Interrupted {
			n += count
		}
	}
	return n
}

// Elapsed returns the time from when the first request was due to the end of the
// last.
func (t *Totals) Elapsed() time.Duration {
	if t.First < 0 {
		return 0
	}
	return t.Last - t.First
}

// perSecond returns n requests as a rate, 0 if no time has passed. At a rate a
// run takes the interval behind its last request as well.
func (t *Totals) perSecond(n int64, rateAsked float64) float64 {
	elapsed := t.Elapsed().Seconds()
	if rateAsked > 0 && t.First >= 0 {
		elapsed = (t.LastStarted - t.First).Seconds() + 1/rateAsked
	}
	if elapsed <= 0 {
		return 0
	}
	return float64(n) / elapsed
}

func (t *Totals) add(s *Sample) {
	t.Requests++
	t.Sent += s.Sent
	t.Received += s.Received
	if t.First < 0 || s.Due < t.First {
		t.First = s.Due
	}
	t.LastStarted = max(t.LastStarted, s.Started)
	t.Last = max(t.Last, s.Ended)
	if s.Truncated {
		t.Truncated++
	}
	if s.lateness() > LateAfter {
		t.Late++
		switch {
		case s.Waited:
			t.LateWaiting++
		case s.Busy:
			t.LateBusy++
		}
	}
	t.Lateness.Add(s.lateness())
	if s.Status > 0 {
		t.Answered++
		t.Status[s.Status]++
		t.Latency.Add(s.latency())
		t.Service.Add(s.service())
		if s.AheadLeast != s.AheadMost {
			t.drift.see(s.AheadLeast, s.AheadMost)
		}
	} else {
		t.Failures[s.Failure]++
	}
	if s.Class >= 0 {
		t.class(s.Class).add(s)
	}
	t.timeline.add(s)
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
		c = &ClassTotal{Status: make(map[int]int64), Latency: NewHistogram(2)}
		t.Classes[class] = c
	}
	return c
}

func (c *ClassTotal) add(s *Sample) {
	c.Requests++
	if s.Status > 0 {
		c.Latency.Add(s.latency())
		c.Status[s.Status]++
	} else if s.isError() {
		c.Errors++
	}
}

// Row is what ended within one second of the run.
type Row struct {
	Second         int // since the start; the first is 0
	Requests       int64
	Errors         int64
	Status         [statusClasses]int64 // responses by hundreds of their status: Status[2] for 2xx
	Late           int64
	Unlinked       int64
	Sent, Received int64
	Latency        *Histogram
}

// series keeps the seconds that are not over. They are few: the samples of all
// connections are collected every second.
type series struct {
	next int // the first second that has not been passed on
	open []*Row
}

// end returns the second after the last one that is open.
func (s *series) end() int { return s.next + len(s.open) }

// add counts a sample to the second in which it ended. A second that is over
// already can't be changed: the sample counts to the next.
func (s *series) add(sample *Sample) {
	row := s.at(sample.Ended)
	row.Requests++
	row.Sent += sample.Sent
	row.Received += sample.Received
	if sample.lateness() > LateAfter {
		row.Late++
	}
	if sample.Status > 0 {
		row.Latency.Add(sample.latency())
		row.Status[classOf(sample.Status)]++
	} else if sample.isError() {
		row.Errors++
	}
}

// at returns the row of a time, or the first one that is not over.
func (s *series) at(t time.Duration) *Row {
	index := max(int(t/time.Second)-s.next, 0)
	for len(s.open) <= index {
		s.open = append(s.open, newRow(s.end()))
	}
	return s.open[index]
}

func newRow(second int) *Row { return &Row{Second: second, Latency: NewHistogram(2)} }

// close returns the seconds before the given one and keeps them no longer. A
// second in which nothing ended has a row as well.
func (s *series) close(second int) []Row {
	var rows []Row
	for s.next < second {
		row := newRow(s.next)
		if len(s.open) > 0 {
			row, s.open = s.open[0], s.open[1:]
		}
		rows = append(rows, *row)
		s.next++
	}
	return rows
}
