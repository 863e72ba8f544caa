// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxMoments bounds a timeline: beyond it two moments become one of twice the
// length, so that a run of any length has between half as many and as many.
const maxMoments = 600

// Moment is what happened in one stretch of a run to the requests of a target.
// Each figure is of the requests that were due, started or ended in it: a request
// may count as due in one moment and as answered in a later one.
type Moment struct {
	Second        int64            `json:"second"` // when it begins, in seconds since the start
	Due           int64            `json:"due"`    // requests that were due, those that were never started too
	Sent          int64            `json:"sent"`   // requests that were started
	OK            int64            `json:"ok"`     // whole answers that ended, whatever their status
	Errors        int64            `json:"errors"` // requests that ended without an answer
	StatusClasses map[string]int64 `json:"status_classes,omitempty"`
	Late          int64            `json:"late,omitempty"`         // of those started, over 10 ms after they were due
	LateBusy      int64            `json:"late_busy,omitempty"`    // of these, for want of a free connection
	LateWaiting   int64            `json:"late_waiting,omitempty"` // of these, since they waited for the answer to another
	Unlinked      int64            `json:"unlinked,omitempty"`     // not sent, since what they need was in no answer
	P50MS         float64          `json:"p50_ms,omitempty"`       // latency of the answers; none: there were none
	P99MS         float64          `json:"p99_ms,omitempty"`
	MaxMS         float64          `json:"max_ms,omitempty"`
	Histogram     string           `json:"histogram,omitempty"` // of the latencies, right to two digits, as that of Latency

	latency *hdrhistogram.PackedHistogram
}

// MarshalJSON writes the moment with its histogram, which is encoded only here.
func (m Moment) MarshalJSON() ([]byte, error) {
	type plain Moment
	if m.Histogram == "" && m.latency != nil {
		encoded, err := m.latency.Encode()
		if err != nil {
			return nil, err
		}
		m.Histogram = string(encoded)
	}
	return json.Marshal(plain(m))
}

// timeline counts what happens to requests by the time at which it happens, in
// memory that depends neither on how many they are nor on how long a run takes.
type timeline struct {
	shift uint // each stretch takes 1 << shift seconds
	marks []mark
}

// mark is one stretch of time.
type mark struct {
	due, sent, ok, errors, late, lateBusy, lateWaiting, unlinked int64

	status  [statusClasses]int64
	latency *hdrhistogram.PackedHistogram // nil: no answer ended
	max     time.Duration
}

// seconds returns how many each stretch takes.
func (t *timeline) seconds() int64 { return 1 << t.shift }

// at returns the mark of a time since the start.
func (t *timeline) at(when time.Duration) *mark {
	second := uint64(max(when, 0)) / uint64(time.Second)
	for second>>t.shift >= maxMoments {
		t.coarsen()
	}
	index := int(second >> t.shift) //nolint:gosec // it is below maxMoments
	for len(t.marks) <= index {
		t.marks = append(t.marks, mark{})
	}
	return &t.marks[index]
}

// coarsen makes one mark of every two.
func (t *timeline) coarsen() {
	t.shift++
	half := t.marks[:0]
	for i := 0; i < len(t.marks); i += 2 {
		m := t.marks[i]
		if i+1 < len(t.marks) {
			m.merge(&t.marks[i+1])
		}
		half = append(half, m)
	}
	clear(t.marks[len(half):])
	t.marks = half
}

func (t *timeline) add(s *Sample) {
	t.at(s.Due).due++
	started := t.at(s.Started)
	started.sent++
	if s.lateness() > LateAfter {
		started.late++
		switch {
		case s.Waited:
			started.lateWaiting++
		case s.Busy:
			started.lateBusy++
		}
	}
	ended := t.at(s.Ended)
	switch {
	case s.Status > 0:
		ended.ok++
		ended.status[classOf(s.Status)]++
		ended.answered(s.latency())
	case s.isError():
		ended.errors++
	}
}

func (m *mark) answered(latency time.Duration) {
	latency = min(max(latency, 0), longest)
	if m.latency == nil {
		m.latency = hdrhistogram.NewPacked(int64(finest), int64(longest), 2)
	}
	m.latency.RecordValue(int64(latency)) //nolint:errcheck // the value is within range
	m.max = max(m.max, latency)
}

func (m *mark) merge(o *mark) {
	m.due += o.due
	m.sent += o.sent
	m.ok += o.ok
	m.errors += o.errors
	m.late += o.late
	m.lateBusy += o.lateBusy
	m.lateWaiting += o.lateWaiting
	m.unlinked += o.unlinked
	for class, n := range o.status {
		m.status[class] += n
	}
	switch {
	case m.latency == nil:
		m.latency = o.latency
	case o.latency != nil:
		m.latency.Merge(o.latency)
	}
	m.max = max(m.max, o.max)
}

// moments returns the timeline for the report.
func (t *timeline) moments() []Moment {
	all := make([]Moment, len(t.marks))
	for i := range t.marks {
		m := &t.marks[i]
		all[i] = Moment{
			Second: int64(i) * t.seconds(), Due: m.due, Sent: m.sent, OK: m.ok, Errors: m.errors,
			Late: m.late, LateBusy: m.lateBusy, LateWaiting: m.lateWaiting, Unlinked: m.unlinked, latency: m.latency,
		}
		for hundred, n := range m.status {
			if hundred > 0 && n > 0 {
				if all[i].StatusClasses == nil {
					all[i].StatusClasses = make(map[string]int64)
				}
				all[i].StatusClasses[strconv.Itoa(hundred)+"xx"] = n
			}
		}
		if m.latency != nil {
			at := m.latency.ValueAtPercentilesSlice([]float64{50, 99})
			all[i].P50MS, all[i].P99MS = ms(min(time.Duration(at[0]), m.max)), ms(min(time.Duration(at[1]), m.max))
			all[i].MaxMS = ms(m.max)
		}
	}
	return all
}
