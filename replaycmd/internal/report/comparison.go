// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// Recorded is the name of the old system where that is the recorded responses,
// and Self that of old′ where one system is asked twice.
const (
	Recorded = "recorded"
	Self     = "self"
)

// Comparison is what was found of one new system's responses. Its differences
// are in the report's own list.
type Comparison struct {
	Target string `json:"target"`          // the new system
	Old    string `json:"old"`             // the target that is right, or "recorded"
	Noise  string `json:"noise,omitempty"` // the target that is old′, or "self"; none: it was not measured

	tally.Table

	Confirming int64        `json:"confirming"`          // requests that were sent to confirm; no other figure has them
	NotAsked   string       `json:"not_asked,omitempty"` // why nothing was asked again, or not all
	Counts     *tally.Tally `json:"counts"`              // to merge comparisons
}

// Difference is one field in which a new system differs.
type Difference struct {
	Target string `json:"target"`
	tally.Row
}

// AddComparison adds what was found of one new system: the names, what was
// asked again, and the counts.
func (r *Report) AddComparison(c Comparison) {
	c.Table = *c.Counts.Table()
	for _, row := range c.Rows {
		if r.Request != "" {
			row.ID = "" // no record has it
		}
		r.Differences = append(r.Differences, Difference{c.Target, row})
	}
	c.Rows = nil
	r.Comparisons = append(r.Comparisons, c)
}

// comparison returns what was compared of a target, nil if nothing was.
func (r *Report) comparison(target string) *Comparison {
	for i := range r.Comparisons {
		if r.Comparisons[i].Target == target {
			return &r.Comparisons[i]
		}
	}
	return nil
}

// differing returns how many fields of a target have a class that counts.
func (r *Report) differing(target string, counts func(tally.Class) bool) (n int) {
	for i := range r.Differences {
		if d := &r.Differences[i]; d.Target == target && counts(d.Class) {
			n++
		}
	}
	return n
}

func isClass(class tally.Class) func(tally.Class) bool {
	return func(c tally.Class) bool { return c == class }
}

// ratio returns by how much a percentile of the new system is slower at least,
// and false where there are too few pairs to know.
func (c *Comparison) ratio(percentile float64) (newLow, oldHigh time.Duration, ok bool) {
	if c.Counts == nil {
		return 0, 0, false
	}
	return c.Counts.Bounds(percentile)
}
