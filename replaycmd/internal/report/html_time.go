// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/chart"
)

// leastMoments is how many moments a chart over time needs: one is a dot, and its
// figures are the target's.
const leastMoments = 2

// timeCharts are the charts over time of all targets, which share their axes.
type timeCharts struct {
	time, latencies, rates chart.Axis
}

func newTimeCharts(targets []Target) *timeCharts {
	c := new(timeCharts)
	var end, seconds float64
	var latencies, rates []float64
	for i := range targets {
		t := &targets[i]
		seconds = max(seconds, float64(t.TimelineSeconds))
		for _, m := range t.Timeline {
			end = max(end, float64(m.Second+t.TimelineSeconds))
			if m.OK > 0 {
				latencies = append(latencies, max(leastMS, m.P50MS), max(leastMS, m.P99MS))
			}
			rates = append(rates, perSecond(m.Due, t), perSecond(m.OK, t))
		}
	}
	c.time = chart.Axis{Label: "since the start", High: max(end, 1), Format: func(s float64) string { return since(int64(s)) }, Ticks: timeTicks(max(end, 1))}
	c.latencies = chart.Axis{Log: true, Format: durationTick}
	c.latencies.Low, c.latencies.High = chart.Around(true, latencies...)
	c.rates = chart.Axis{Format: func(v float64) string { return shortRate(v) }}
	c.rates.Low, c.rates.High = chart.Around(false, rates...)
	return c
}

// timeTicks returns the seconds at which an axis of time has ticks.
func timeTicks(end float64) (ticks []float64) {
	step := 0.0
	for _, seconds := range []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		if step = seconds; end/step <= 6 {
			break
		}
	}
	for end/step > 6 {
		step *= 2
	}
	for at := 0.0; at <= end; at += step {
		ticks = append(ticks, at)
	}
	return ticks
}

func shortRate(v float64) string {
	if v >= 10000 {
		return strconv.FormatFloat(v/1000, 'g', 4, 64) + "k/s"
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + "/s"
}

func perSecond(n int64, t *Target) float64 { return float64(n) / float64(max(1, t.TimelineSeconds)) }

// latency returns the chart of a target's latency over time.
func (c *timeCharts) latency(t *Target, number int) *figure {
	if t.Latency.Count == 0 || len(t.Timeline) < leastMoments {
		return nil
	}
	f := &figure{Title: "Latency over time"}
	p99, p50 := chart.Line{Name: "p99", Style: 0}, chart.Line{Name: "median", Style: 1}
	drawing := chart.Chart{Title: "Latency of " + cut(t.Name, maxText) + " over time", X: c.time, Y: c.latencies}
	var worst *Moment
	failing := 0
	for i := range t.Timeline {
		m := &t.Timeline[i]
		x, high, low := t.middle(m), math.NaN(), math.NaN()
		if m.OK > 0 {
			high, low = max(leastMS, m.P99MS), max(leastMS, m.P50MS)
			if worst == nil || m.P99MS > worst.P99MS {
				worst = m
			}
		}
		p99.Points = append(p99.Points, chart.Point{X: x, Y: high})
		p50.Points = append(p50.Points, chart.Point{X: x, Y: low})
		if m.Errors > 0 {
			failing++
			drawing.Crosses = append(drawing.Crosses, chart.Cross{X: x, Text: since(m.Second) + ": " + plural(m.Errors, "error")})
		}
	}
	drawing.Lines = []chart.Line{p50, p99}
	f.add(0, "p99")
	f.add(1, "median")
	drawing.Summary = "no moment has an answer"
	if worst != nil {
		drawing.Summary = fmt.Sprintf("highest at %s, p99 %s", since(worst.Second), duration(worst.P99MS))
	}
	if failing > 0 {
		f.Note = "× at the upper edge: requests that got no answer."
		drawing.Summary += fmt.Sprintf("; errors in %d of %d moments", failing, len(t.Timeline))
	}
	if t.TimelineSeconds > 1 {
		f.Note = strings.TrimSpace(f.Note + fmt.Sprintf(" Each point is of %d s.", t.TimelineSeconds))
	}
	f.draw(&drawing, 2*number+1)
	return f
}

// rate returns the chart of what was due at a target and what it answered.
func (c *timeCharts) rate(t *Target, number int) *figure {
	if len(t.Timeline) < leastMoments {
		return nil
	}
	f := &figure{Title: "Requests over time"}
	due, answered, failed := chart.Line{Name: "due", Style: 1}, chart.Line{Name: "answered", Style: 0}, chart.Line{Name: "errors", Style: 3}
	whole := t.Timeline
	if n := len(whole); n > 2 && whole[n-1].Due == 0 {
		whole = whole[:n-1] // only the last answers came in it
	}
	for i := range whole {
		m := &whole[i]
		x := t.middle(m)
		due.Points = append(due.Points, chart.Point{X: x, Y: perSecond(m.Due, t)})
		answered.Points = append(answered.Points, chart.Point{X: x, Y: perSecond(m.OK, t)})
		failed.Points = append(failed.Points, chart.Point{X: x, Y: perSecond(m.Errors, t)})
	}
	drawing := chart.Chart{
		Title: "Requests of " + cut(t.Name, maxText) + " over time", X: c.time, Y: c.rates, Lines: []chart.Line{due, answered},
		Summary: fmt.Sprintf("%s due, %s answered, %s", plural(t.Requests+t.Unsent, "request"), count(t.Answers), plural(t.Errors, "error")),
	}
	f.add(0, "answered")
	f.add(1, "due")
	if t.Errors > 0 {
		drawing.Lines = append(drawing.Lines, failed)
		f.add(3, "errors")
	}
	f.draw(&drawing, 2*number+2)
	return f
}

// middle returns the time in the middle of a moment, in seconds.
func (t *Target) middle(m *Moment) float64 {
	return float64(m.Second) + float64(t.TimelineSeconds)/2
}
