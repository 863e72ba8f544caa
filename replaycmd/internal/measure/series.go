// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// Row is what ended within one second of the run.
type Row struct {
	Second         int // since the start; the first is 0
	Requests       int64
	Errors         int64
	Status         [6]int64 // answers by hundreds of their status, up to 5xx: Status[2] for 2xx
	Late           int64
	Sent, Received int64
	Latency        Histogram
}

// series keeps the seconds that are not over. They are few: a sender's samples
// are collected every second.
type series struct {
	next int // the first second that has not been given out
	open []*Row
}

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
		if hundred := sample.Status / 100; hundred < len(row.Status) {
			row.Status[hundred]++
		}
	} else if sample.Kind != send.Interrupted {
		row.Errors++
	}
}

// close gives the seconds before the given one and keeps them no longer. A
// second in which nothing ended has a row as well.
func (s *series) close(second int) []Row {
	var rows []Row
	for s.next < second {
		row := &Row{Second: s.next}
		if len(s.open) > 0 {
			row, s.open = s.open[0], s.open[1:]
		} else {
			row.Latency = NewHistogram(2)
		}
		rows = append(rows, *row)
		s.next++
	}
	return rows
}
