// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
)

// section is what a page has of one target.
type section struct {
	*Target
	Number          int
	Timed           bool
	OverTime        *figure // over time; nil without an answer
	Requested       *figure // over time; nil without a request
	Statuses        []bar
	Kinds           []bar
	LateFor         []bar
	Classes         []Class
	Heads           []string // the classes of status that Classes have
	ClassesUnlinked bool     // some of Classes were not sent
	Stretch         []stretch
}

// figure is a drawing with its title and legend.
type figure struct {
	Title  string
	SVG    template.HTML
	Legend []legend
	Note   string
}

type legend struct {
	Swatch template.HTML
	Text   string
}

// bar is a count and its share of the longest bar.
type bar struct {
	Name  string
	Count int64
	Share string // of all
	Width int    // in percent of the longest
	Bad   bool
}

// stretch is a row of the table that has what the charts over time show.
type stretch struct {
	At              string
	Due, OK, Errors int64
	P50, P99        string
}

// maxStretches is how many rows the table has at most.
const maxStretches = 60

func (r *Report) newSection(t *Target, number int, charts *timeCharts) section {
	s := section{Target: t, Number: number + 1, Timed: r.Timed, Classes: t.By, Heads: t.statusClasses(), ClassesUnlinked: t.classesUnlinked()}
	for _, status := range slices.SortedFunc(maps.Keys(t.Status), func(a, b string) int { return cmp.Compare(a, b) }) {
		s.Statuses = append(s.Statuses, bar{Name: status, Count: t.Status[status], Bad: status >= "400"})
	}
	for _, kind := range slices.Sorted(maps.Keys(t.ErrorsByKind)) {
		s.Kinds = append(s.Kinds, bar{Name: kind, Count: t.ErrorsByKind[kind], Bad: true})
	}
	if t.Unsent > 0 {
		s.Kinds = append(s.Kinds, bar{Name: "not started in time", Count: t.Unsent, Bad: true})
	}
	if t.Unlinked > 0 {
		s.Kinds = append(s.Kinds, bar{Name: "not sent: what they need was in no answer", Count: t.Unlinked, Bad: true})
	}
	if r.Timed && t.Late > 0 {
		s.LateFor = []bar{{Name: "all connections were busy", Count: t.LateBusy}, {Name: "this machine was busy", Count: t.Late - t.LateBusy - t.LateWaiting}}
		if t.LateWaiting > 0 {
			s.LateFor = append(s.LateFor, bar{Name: "they waited for another's answer", Count: t.LateWaiting})
		}
	}
	for _, bars := range [][]bar{s.Statuses, s.Kinds, s.LateFor} {
		longestBar := int64(1)
		for _, b := range bars {
			longestBar = max(longestBar, b.Count)
		}
		for i := range bars {
			bars[i].Share = share(bars[i].Count, t.Requests+t.Unsent+t.Unlinked)
			bars[i].Width = int(100 * bars[i].Count / longestBar)
		}
	}
	s.Statuses, s.Kinds = few(s.Statuses), few(s.Kinds)
	s.OverTime, s.Requested = charts.latency(t, number), charts.rate(t, number)
	s.Stretch = t.stretches()
	return s
}

// maxBars is how many bars a list has at most.
const maxBars = 40

// few puts the bars beyond a number together.
func few(bars []bar) []bar {
	if len(bars) <= maxBars {
		return bars
	}
	rest := bar{Name: others, Bad: true}
	for _, b := range bars[maxBars:] {
		rest.Count += b.Count
	}
	return append(slices.Clone(bars[:maxBars]), rest)
}

// stretches returns the timeline as rows of a table.
func (t *Target) stretches() (rows []stretch) {
	each := (len(t.Timeline) + maxStretches - 1) / maxStretches
	for i := 0; i < len(t.Timeline); i += each {
		row := stretch{At: since(t.Timeline[i].Second), P50: "none", P99: "none"}
		var p50, p99 float64
		for _, m := range t.Timeline[i:min(i+each, len(t.Timeline))] {
			row.Due, row.OK, row.Errors = row.Due+m.Due, row.OK+m.OK, row.Errors+m.Errors
			p50, p99 = max(p50, m.P50MS), max(p99, m.P99MS)
		}
		if row.OK > 0 {
			row.P50, row.P99 = duration(p50), duration(p99)
		}
		rows = append(rows, row)
	}
	return rows
}

// None returns a figure in words where there are no answers.
func (t *Target) None(ms float64) string { return t.Latency.text(ms) }

// In returns a figure of a class in words.
func (c *Class) In(ms float64) string { return c.Latency.text(ms) }
