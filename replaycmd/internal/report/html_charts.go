// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/chart"
)

// leastMS is the lowest latency of a logarithmic axis.
const leastMS = 0.001

// curve is one distribution of latencies as a line of a chart.
type curve struct {
	name  string
	count int64
	at    func(percent float64) tally.Spread
	band  bool
}

// curve returns that of latencies which were measured.
func (l *Latency) curve(name string, band bool) curve {
	return curve{name, l.Count, func(percent float64) tally.Spread {
		s := tally.Spread{At: l.At(percent)}
		s.Low, s.High, s.Known = l.interval(percent)
		return s
	}, band}
}

// interval returns the bounds of the 95 % interval of a percentile.
func (l *Latency) interval(percent float64) (low, high time.Duration, ok bool) {
	first, last, ok := tally.Interval(l.Count, percent)
	if !ok || l.measured == nil {
		return 0, 0, false
	}
	rank := func(k int64) time.Duration {
		return l.At(100 * (float64(min(max(k, 1), l.Count)) - 0.5) / float64(l.Count))
	}
	return rank(first), rank(last), true
}

// percentileFigures returns the charts of latency by percentile: one of all
// targets, and one of each new system beside its old one.
func (r *Report) percentileFigures() (figures []*figure) {
	var all []curve
	for i := range min(len(r.Targets), maxTargets) {
		if t := &r.Targets[i]; t.Latency.Count > 1 { // one is no distribution
			all = append(all, t.Latency.curve(t.Name, false))
		}
	}
	title := "Latency by percentile"
	if r.Timed {
		title = "Latency from when due, by percentile"
	}
	if len(all) > 0 {
		figures = append(figures, percentileFigure(len(figures), title, "", all))
	}
	for i := range min(len(r.Targets), maxTargets) {
		t := &r.Targets[i]
		if old := r.baseline(t.Name); old != nil && old.Service.Count > 0 && t.Service.Count > 0 {
			figures = append(figures, percentileFigure(len(figures), "Service time of "+t.Name+" beside the baseline", bandNote,
				[]curve{old.Service.curve("baseline", true), t.Service.curve(t.Name, true)}))
		}
	}
	for i := range min(len(r.Comparisons), maxTargets) {
		c := &r.Comparisons[i]
		if c.Counts == nil || c.Latency.Pairs == 0 {
			continue
		}
		old, fresh := curve{name: labelled("old", c.Old), count: c.Latency.Pairs, band: true}, curve{name: labelled("new", c.Target), count: c.Latency.Pairs, band: true}
		old.at = func(percent float64) tally.Spread { s, _ := c.Counts.Spreads(percent); return s }
		fresh.at = func(percent float64) tally.Spread { _, s := c.Counts.Spreads(percent); return s }
		figures = append(figures, percentileFigure(len(figures), "Service time of "+c.Target+" beside "+c.Old,
			bandNote, []curve{old, fresh}))
	}
	return figures
}

const bandNote = "Bands are 95% intervals. Where they overlap, there may be no difference."

// labelled returns a name with what it is, once if that is the same.
func labelled(label, name string) string {
	if name == label {
		return name
	}
	return label + ": " + name
}

// percentileFigure returns a chart of some curves. The axis has each further nine
// as far from the last as that from the one before.
func percentileFigure(number int, title, note string, curves []curve) *figure {
	most := int64(1)
	for _, c := range curves {
		most = max(most, c.count)
	}
	c := chart.Chart{Title: cut(title, maxText), X: chart.Axis{Label: "percentile", High: max(1, math.Log10(float64(most))), Format: percentileText}}
	c.X.Ticks = []float64{0, nines(50), 1, 2, 3, 4, 5, 6, 7}
	c.Y = chart.Axis{Log: true, Format: durationTick}
	var values []float64
	words := make([]string, 0, len(curves))
	f := &figure{Title: title, Note: note}
	for i, curve := range curves {
		line := chart.Line{Name: curve.name, Style: i}
		band := chart.Band{Style: i}
		limit := math.Log10(float64(max(curve.count, 2)))
		const step = 0.04
		for x := 0.0; ; x += step {
			x = min(x, limit)
			s := curve.at(100 * (1 - math.Pow(10, -x)))
			y := milliseconds(s.At)
			line.Points = append(line.Points, chart.Point{X: x, Y: y})
			values = append(values, y)
			if curve.band && s.Known {
				band.Low = append(band.Low, chart.Point{X: x, Y: milliseconds(s.Low)})
				band.High = append(band.High, chart.Point{X: x, Y: milliseconds(s.High)})
				values = append(values, milliseconds(s.Low), milliseconds(s.High))
			}
			if x >= limit {
				break
			}
		}
		c.Lines = append(c.Lines, line)
		if len(band.Low) > 0 {
			c.Bands = append(c.Bands, band)
		}
		words = append(words, fmt.Sprintf("%s: median %s, p99 %s", cut(curve.name, maxText), duration(ms(curve.at(50).At)), duration(ms(curve.at(99).At))))
		f.add(i, curve.name)
	}
	c.Y.Low, c.Y.High = chart.Around(true, values...)
	c.Summary = strings.Join(words, "; ")
	f.draw(&c, 1000+number)
	return f
}

// nines returns where a percentile is on the axis.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

func percentileText(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 1:
		return "p50"
	}
	return "p" + strconv.FormatFloat(100*(1-math.Pow(10, -x)), 'g', 7, 64)
}

func milliseconds(d time.Duration) float64 { return max(leastMS, ms(d)) }

// durationTick returns milliseconds in as few characters as an axis needs.
func durationTick(ms float64) string {
	switch {
	case ms >= 1000:
		return strconv.FormatFloat(ms/1000, 'g', 3, 64) + " s"
	case ms >= 1:
		return strconv.FormatFloat(ms, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(ms*1000, 'g', 3, 64) + " µs"
}

func (f *figure) add(style int, text string) {
	swatch, err := chart.Swatch(style)
	if err != nil {
		swatch = ""
	}
	f.Legend = append(f.Legend, legend{swatch, text})
}

func (f *figure) draw(c *chart.Chart, number int) {
	svg, err := c.SVG(number)
	if err != nil {
		svg = template.HTML("<p>" + template.HTMLEscapeString(err.Error()) + "</p>") //nolint:gosec // it is escaped
	}
	f.SVG = svg
}
