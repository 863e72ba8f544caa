// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package report counts what becomes of requests, judges it by conditions such
// as p99<250ms, and writes it: as text and pages for people, as JSON for programs, as
// CSV for every second of a run. A Report that was read from its JSON is as good
// as one that was just made.
package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Version is the version of the JSON. It grows when a field changes its
// meaning or goes away; new fields leave it as it is.
const Version = 1

// Report is what became of a run. Fields that end in _ms are milliseconds.
type Report struct {
	Version     int       `json:"version"`
	Run         Run       `json:"run"`
	Started     time.Time `json:"started"`
	ElapsedMS   float64   `json:"elapsed_ms"`
	Pace        string    `json:"pace"`              // "500/s", "2x" or "max"
	Timed       bool      `json:"timed"`             // requests were due at times, not as soon as a connection was free
	Request     string    `json:"request,omitempty"` // the one that was sent over and over, if no recording was
	Connections int       `json:"connections"`       // at most, to each target
	Interrupted bool      `json:"interrupted"`
	Problems    []string  `json:"problems"`             // parts of recordings that could not be read
	Incomplete  []string  `json:"incomplete,omitempty"` // what else the run lacks that no target is to blame for
	Targets     []Target  `json:"targets"`
	Checks      []Check   `json:"checks"`

	Shard       *Shard       `json:"shard,omitempty"`        // the part of the run that it is of; none: all of it
	Shards      int          `json:"shards,omitempty"`       // from so many parts it was added up
	ClocksApart *ClocksApart `json:"clocks_apart,omitempty"` // of the machines of the shards

	JudgedAgain bool `json:"judged_again,omitempty"` // by conditions that are not those of the command

	Found *FoundRate `json:"found_rate,omitempty"` // of --find-rate; all else is of the last run at that rate

	Comparisons []Comparison `json:"comparisons,omitempty"` // one of each new target, if responses were compared
	Differences []Difference `json:"differences,omitempty"` // theirs, the fields that count first

	Baseline *Baseline `json:"baseline,omitempty"` // the earlier run that it is judged beside

	Following bool        `json:"following,omitempty"`  // conversations were followed, as --links says
	NoSession bool        `json:"no_session,omitempty"` // of which there was none, as no record has a session
	NotLinked []NotLinked `json:"not_linked,omitempty"` // what might be links, of which there are too few sessions to know
	Elsewhere []Elsewhere `json:"elsewhere,omitempty"`  // what requests have that no answer had, where links were found
	Stale     []Stale     `json:"stale,omitempty"`      // fields that sign a recorded body in place of which another was sent
}

// Run is in words what was run.
type Run struct {
	Command string   `json:"command"` // as a shell takes it; secrets are left out
	Sent    []string `json:"sent"`    // the URL with its path, or the recordings
	Version string   `json:"version"` // of Rehearsal, Caddy and Go
	Machine string   `json:"machine"` // that has sent the requests: its name, its system, its processors
}

// Target is what became of the requests to one target.
type Target struct {
	Name              string           `json:"name"`
	URL               string           `json:"url"`
	Requests          int64            `json:"requests"`
	Unsent            int64            `json:"unsent"`   // due, but not started
	Unlinked          int64            `json:"unlinked"` // not sent, since what they need was in no answer
	Answers           int64            `json:"answers"`
	Errors            int64            `json:"errors"`
	ErrorsByKind      map[string]int64 `json:"errors_by_kind"`
	Interrupted       int64            `json:"interrupted"` // by the end of the run
	Status            map[string]int64 `json:"status"`
	Truncated         int64            `json:"truncated"` // sent with the beginning of their body
	ElapsedMS         float64          `json:"elapsed_ms"`
	FirstDueMS        float64          `json:"first_due_ms"`         // since the start, when the first request was due
	LastStartedMS     float64          `json:"last_started_ms"`      // when the last one started
	LastEndedMS       float64          `json:"last_ended_ms"`        // and when the last one ended
	RateAsked         float64          `json:"rate_asked,omitempty"` // per second
	Rate              float64          `json:"rate"`                 // of requests, per second
	AnswerRate        float64          `json:"answer_rate"`          // of answers, per second
	ConnectionsOpened int64            `json:"connections_opened"`
	BytesSent         int64            `json:"bytes_sent"`
	BytesReceived     int64            `json:"bytes_received"`
	Latency           Latency          `json:"latency"`
	Service           Latency          `json:"service"`
	Late              int64            `json:"late"`         // started over 10 ms after they were due
	LateBusy          int64            `json:"late_busy"`    // of these, for want of a free connection
	LateWaiting       int64            `json:"late_waiting"` // of these, since they waited for the answer to another
	Lateness          Latency          `json:"lateness"`
	Clock             *Clock           `json:"clock,omitempty"` // beside that of the machine that has sent the requests
	By                []Class          `json:"by,omitempty"`
	Links             []Link           `json:"links,omitempty"`  // what became of each, if conversations were followed
	TimelineSeconds   int64            `json:"timeline_seconds"` // that each moment of the timeline takes: 1, more in long runs
	Timeline          []Moment         `json:"timeline"`
}

// Class is what became of the requests of one class.
type Class struct {
	Name          string           `json:"name"`
	Requests      int64            `json:"requests"`
	Errors        int64            `json:"errors"`
	Unlinked      int64            `json:"unlinked"`         // not sent, since what they need was in no answer
	Status        map[string]int64 `json:"status,omitempty"` // responses by status code
	StatusClasses map[string]int64 `json:"status_classes"`   // responses by "2xx" and the like
	Latency       Latency          `json:"latency"`
}

// Check is a condition and whether it holds.
type Check struct {
	Condition string `json:"condition"`
	Target    string `json:"target"`
	Value     string `json:"value"`
	OK        bool   `json:"ok"`
}

// Facts are what a report has to know of a run besides its results.
type Facts struct {
	Started     time.Time
	Elapsed     time.Duration
	Pace        string
	Timed       bool    // requests were due at times
	RateAsked   float64 // per second; 0: no fixed one
	Request     string  // the one that was sent over and over; empty: recorded ones
	Connections int
	Interrupted bool
	Problems    []string
	By          By
	Classes     *Classes
	Run         Run
	Shard       *Shard // nil: all was sent from here
}

// Result is what became of the requests to one target.
type Result struct {
	Name, URL   string
	Connections int64 // opened
	*Totals
}

// New returns the report of a run.
func New(facts Facts, results []Result) (*Report, error) {
	r := &Report{
		Version: Version, Started: facts.Started, ElapsedMS: ms(facts.Elapsed), Pace: facts.Pace, Timed: facts.Timed,
		Run: facts.Run, Shard: facts.Shard, Request: facts.Request, Connections: facts.Connections, Interrupted: facts.Interrupted,
		Problems: append([]string{}, facts.Problems...), Targets: []Target{}, Checks: []Check{},
	}
	r.Run.Sent = append([]string{}, facts.Run.Sent...)
	for i := range results {
		t, err := newTarget(&facts, &results[i])
		if err != nil {
			return nil, err
		}
		r.Targets = append(r.Targets, t)
	}
	return r, nil
}

// Read returns the report that was written as JSON.
func Read(data []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("report is not valid: %v", err)
	}
	switch {
	case r.Version == 0:
		return nil, errors.New("it is no report, which has its version: expected one of --report json")
	case r.Version != Version:
		return nil, fmt.Errorf("report is of version %d: expected %d", r.Version, Version)
	case len(r.Targets) == 0:
		return nil, errors.New("it is no report, which has targets: expected one of --report json")
	}
	return r, nil
}

func newTarget(facts *Facts, result *Result) (t Target, err error) {
	t = Target{
		Name: result.Name, URL: result.URL,
		Requests: result.Requests, Unsent: result.Unsent, Unlinked: result.Unlinked, Answers: result.Answered, Errors: result.Errors(),
		ErrorsByKind: maps.Clone(result.Failures), Interrupted: result.Failures[Interrupted],
		Status: make(map[string]int64), Truncated: result.Truncated,
		ElapsedMS: ms(result.Elapsed()), RateAsked: facts.RateAsked,
		FirstDueMS: ms(max(result.First, 0)), LastStartedMS: ms(result.LastStarted), LastEndedMS: ms(result.Last),
		Clock: result.drift.clock(),
		Rate:  result.perSecond(result.Requests, facts.RateAsked), AnswerRate: result.perSecond(result.Answered, facts.RateAsked),
		ConnectionsOpened: result.Connections, BytesSent: result.Sent, BytesReceived: result.Received,
		Late: result.Late, LateBusy: result.LateBusy, LateWaiting: result.LateWaiting,
		TimelineSeconds: result.timeline.seconds(), Timeline: result.timeline.moments(),
	}
	delete(t.ErrorsByKind, Interrupted)
	for status, n := range result.Status {
		if n > 0 {
			t.Status[strconv.Itoa(status)] = n
		}
	}
	for _, l := range []struct {
		to   *Latency
		from *Histogram
	}{{&t.Latency, result.Latency}, {&t.Service, result.Service}, {&t.Lateness, result.Lateness}} {
		if *l.to, err = newLatency(l.from); err != nil {
			return t, err
		}
	}
	t.By, err = newClasses(facts, result.Totals)
	return t, err
}

func newClasses(facts *Facts, totals *Totals) ([]Class, error) {
	classes := make([]Class, 0, len(totals.Classes))
	for number, c := range totals.Classes {
		name := statusName(number)
		if facts.By != ByStatus {
			name = facts.Classes.Name(number)
		}
		latency, err := newLatency(c.Latency)
		if err != nil {
			return nil, err
		}
		class := Class{
			Name: name, Requests: c.Requests, Errors: c.Errors, Unlinked: c.Unlinked,
			Status: make(map[string]int64), StatusClasses: make(map[string]int64), Latency: latency,
		}
		for status, n := range c.Status {
			class.Status[strconv.Itoa(status)] = n
			if hundred := classOf(status); hundred > 0 {
				class.StatusClasses[strconv.Itoa(hundred)+"xx"] += n
			}
		}
		classes = append(classes, class)
	}
	sortClasses(classes)
	return classes, nil
}

// sortClasses puts the classes with the most requests first.
func sortClasses(classes []Class) {
	slices.SortFunc(classes, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
}

// StatusClass returns how many responses have a status of a hundred: 2 for 2xx.
func (t *Target) StatusClass(hundred int) (n int64) {
	for status, count := range t.Status {
		if code, err := strconv.Atoi(status); err == nil && code/100 == hundred {
			n += count
		}
	}
	return n
}
