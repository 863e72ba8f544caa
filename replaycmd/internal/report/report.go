// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package report says what became of a run: as text for people, as JSON for
// programs and as CSV for every second of it.
package report

import (
	"slices"
	"strconv"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/drive"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// Version is the version of the JSON. It grows when a field changes its
// meaning or goes away; new fields leave it as it is.
const Version = 1

// Report is what became of a run. Fields that end in _ms are milliseconds.
type Report struct {
	Version     int       `json:"version"`
	Started     time.Time `json:"started"`
	ElapsedMS   float64   `json:"elapsed_ms"`
	Pace        string    `json:"pace"`        // "500/s", "2x" or "max"
	Connections int       `json:"connections"` // at most, to each target
	Interrupted bool      `json:"interrupted"`
	Problems    []string  `json:"problems,omitempty"` // parts of recordings that could not be read
	Targets     []Target  `json:"targets"`
	Checks      []Check   `json:"checks,omitempty"`

	timed bool
}

// Target is what became of the requests to one target.
type Target struct {
	Name              string           `json:"name"`
	URL               string           `json:"url"`
	Requests          int64            `json:"requests"`
	Unsent            int64            `json:"unsent"` // due, but not started within the duration
	Answers           int64            `json:"answers"`
	Errors            int64            `json:"errors"`
	ErrorsByKind      map[string]int64 `json:"errors_by_kind,omitempty"`
	Interrupted       int64            `json:"interrupted"` // by the end of the run
	Status            map[string]int64 `json:"status,omitempty"`
	Truncated         int64            `json:"truncated"` // sent with the beginning of their body
	ElapsedMS         float64          `json:"elapsed_ms"`
	RateAsked         float64          `json:"rate_asked,omitempty"` // per second
	Rate              float64          `json:"rate"`                 // per second
	ConnectionsOpened int64            `json:"connections_opened"`
	BytesSent         int64            `json:"bytes_sent"`
	BytesReceived     int64            `json:"bytes_received"`
	Latency           Latency          `json:"latency"`
	Service           Latency          `json:"service"`
	Late              int64            `json:"late"`
	Lateness          Latency          `json:"lateness"`
	By                []Class          `json:"by,omitempty"`

	classes [6]int64 // answers by hundreds of their status, up to 5xx
}

// Latency is a distribution of times.
type Latency struct {
	Count     int64   `json:"count"`
	MeanMS    float64 `json:"mean_ms"`
	P50MS     float64 `json:"p50_ms"`
	P90MS     float64 `json:"p90_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
	P999MS    float64 `json:"p99_9_ms"`
	MaxMS     float64 `json:"max_ms"`
	Histogram string  `json:"histogram,omitempty"` // HdrHistogram V2, compressed, base64, in nanoseconds

	measured measure.Histogram
}

// Class is what became of the requests of one class.
type Class struct {
	Name     string  `json:"name"`
	Requests int64   `json:"requests"`
	Errors   int64   `json:"errors"`
	Latency  Latency `json:"latency"`
}

// Check is a condition and whether it holds.
type Check struct {
	Condition string `json:"condition"`
	Target    string `json:"target"`
	Value     string `json:"value"`
	OK        bool   `json:"ok"`
}

// Run is what a report has to know of a run besides its results.
type Run struct {
	Started     time.Time
	Elapsed     time.Duration
	Pace        string
	Timed       bool    // requests were due at times
	RateAsked   float64 // per second; 0: no fixed one
	Connections int
	Interrupted bool
	Problems    []string
	By          measure.By
	Classes     *measure.Classes
}

// New makes the report of a run.
func New(run Run, results []drive.Result) (*Report, error) {
	r := &Report{
		Version: Version, Started: run.Started, ElapsedMS: ms(run.Elapsed), Pace: run.Pace,
		Connections: run.Connections, Interrupted: run.Interrupted, Problems: run.Problems, timed: run.Timed,
	}
	for _, result := range results {
		t, err := newTarget(&run, &result)
		if err != nil {
			return nil, err
		}
		r.Targets = append(r.Targets, t)
	}
	return r, nil
}

func newTarget(run *Run, result *drive.Result) (Target, error) {
	totals := result.Totals
	t := Target{
		Name: result.Target.Name, URL: result.Target.URL,
		Requests: totals.Requests, Unsent: totals.Unsent, Answers: totals.Answers, Errors: totals.Errors(),
		Interrupted: totals.Failures[send.Interrupted], Truncated: totals.Truncated,
		ElapsedMS: ms(totals.Elapsed()), RateAsked: run.RateAsked, Rate: totals.Rate(),
		ConnectionsOpened: result.Connections, BytesSent: totals.Sent, BytesReceived: totals.Received,
		Late: totals.Late,
	}
	for kind, n := range totals.Failures {
		if n > 0 && send.Kind(kind) != send.Interrupted {
			if t.ErrorsByKind == nil {
				t.ErrorsByKind = make(map[string]int64)
			}
			t.ErrorsByKind[send.Kind(kind).String()] = n
		}
	}
	for status, n := range totals.Status {
		if n > 0 {
			if t.Status == nil {
				t.Status = make(map[string]int64)
			}
			t.Status[strconv.Itoa(status)] = n
			if hundred := status / 100; hundred < len(t.classes) {
				t.classes[hundred] += n
			}
		}
	}
	var err error
	for _, l := range []struct {
		to   *Latency
		from measure.Histogram
	}{{&t.Latency, totals.Latency}, {&t.Service, totals.Service}, {&t.Lateness, totals.Lateness}} {
		*l.to = newLatency(l.from)
		if l.to.Histogram, err = l.from.Encode(); err != nil {
			return t, err
		}
	}
	t.By = newClasses(run, totals)
	return t, nil
}

func newClasses(run *Run, totals *measure.Totals) []Class {
	classes := make([]Class, 0, len(totals.Classes))
	for number, c := range totals.Classes {
		name := "no answer"
		switch {
		case run.By != measure.ByStatus:
			name = run.Classes.Name(number)
		case number > 0:
			name = strconv.Itoa(number)
		}
		classes = append(classes, Class{Name: name, Requests: c.Requests, Errors: c.Errors, Latency: newLatency(c.Latency)})
	}
	slices.SortFunc(classes, func(a, b Class) int {
		if a.Requests != b.Requests {
			return int(b.Requests - a.Requests)
		}
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return classes
}

func newLatency(h measure.Histogram) Latency {
	return Latency{
		Count: h.Count(), MeanMS: ms(h.Mean()), P50MS: ms(h.At(50)), P90MS: ms(h.At(90)), P95MS: ms(h.At(95)),
		P99MS: ms(h.At(99)), P999MS: ms(h.At(99.9)), MaxMS: ms(h.Max()), measured: h,
	}
}

// At gives the time that the given percentage of the times don't exceed.
func (l *Latency) At(percent float64) time.Duration { return l.measured.At(percent) }

// Max gives the longest of the times.
func (l *Latency) Max() time.Duration { return l.measured.Max() }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// StatusClass is how many answers have a status of a hundred: 2 for 2xx.
func (t *Target) StatusClass(hundred int) int64 { return t.classes[hundred] }
