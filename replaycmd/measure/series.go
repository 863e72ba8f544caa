// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/send"
)

// Row is what ended within one second of the run.
type Row struct {
	Second         int // since the start; the first is 0
	Requests       int64
	Errors         int64
	Status         [6]int64 // answers by hundreds of their status: Status[2] for 2xx
	Late           int64
	Sent, Received int64
	Latency        Histogram // valid until the call that got the row returns
}

// series keeps the seconds that are not over. They are few: a sender's samples
// are collected every second.
type series struct {
	rows func(Row)
	next int // the first second that has not been given out
	open []*Row
}

func newSeries(rows func(Row)) *series { return &series{rows: rows} }

// end is the second after the last one that is open.
func (s *series) end() int { return s.next + len(s.open) }

// add counts a sample to the second in which it ended. A second that is over
// already can't be changed: the sample counts to the next.
func (s *series) add(sample *Sample) {
	index := max(int(sample.Ended/time.Second)-s.next, 0)
	for len(s.open) <= index {
		s.open = append(s.open, &Row{Second: s.end(), Latency: NewHistogram(2)})
	}
	row := s.open[index]
	row.Requests++
	row.Sent += sample.Sent
	row.Received += sample.Received
	if sample.Lateness() > LateAfter {
		row.Late++
	}
	if sample.Status > 0 {
		row.Latency.Add(sample.Latency())
		row.Status[min(sample.Status/100, len(row.Status)-1)]++
	} else if sample.Kind != send.Interrupted {
		row.Errors++
	}
}

// close gives out the seconds before the given one. A second in which nothing
// ended has a row as well.
func (s *series) close(second int) {
	for s.next < second {
		row := &Row{Second: s.next}
		if len(s.open) > 0 {
			row, s.open = s.open[0], s.open[1:]
		} else {
			row.Latency = NewHistogram(2)
		}
		s.rows(*row)
		s.next++
	}
}
