// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines over time or percentiles as SVG: without scripts,
// told apart without colour, and with a text in its place for those who can't
// see it. Colours are those of the page around it.
package chart

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Size of a drawing, in its own units. A page scales it to its width.
const (
	Width  = 480
	Height = 260

	left, right, top, bottom = 58, 12, 12, 38
)

// Styles is how many lines can be told apart, by dashes and marks as well as by
// colour. Those beyond begin again.
const Styles = 6

// Chart is what is drawn in one coordinate system.
type Chart struct {
	Title   string // what it shows, for those who can't see it
	Summary string // and what can be seen there
	X, Y    Axis
	Lines   []Line
	Bands   []Band
	Crosses []Cross // at the upper edge
}

// Line is one line. Points that are NaN break it.
type Line struct {
	Name   string
	Style  int // which of the Styles
	Thin   bool
	Points []Point
}

// Band is what lies between two lines.
type Band struct {
	Style     int
	Low, High []Point
}

// Point is a place in the coordinate system of the axes.
type Point struct{ X, Y float64 }

// Cross marks that something went wrong at a place on the X axis.
type Cross struct {
	X    float64
	Text string // what went wrong
}

// SVG returns the drawing. The number is that of the chart on its page.
func (c *Chart) SVG(number int) (template.HTML, error) {
	d := drawing{Chart: c, Number: number, Width: Width, Height: Height, Left: left, Right: Width - right, Top: top, Bottom: Height - bottom}
	for _, tick := range c.X.ticks() {
		d.XTicks = append(d.XTicks, c.xTick(tick))
	}
	for _, tick := range c.Y.ticks() {
		d.YTicks = append(d.YTicks, mark{At: c.y(tick), Text: c.Y.Format(tick)})
	}
	for _, band := range c.Bands {
		d.Bands = append(d.Bands, shape{Style: style(band.Style), D: c.area(band)})
	}
	for _, line := range c.Lines {
		s := shape{Name: line.Name, Style: style(line.Style), Thin: line.Thin, D: c.path(line.Points)}
		if !line.Thin {
			s.Marks = c.marks(line)
		}
		d.Lines = append(d.Lines, s)
	}
	for _, cross := range c.Crosses {
		d.Crosses = append(d.Crosses, mark{At: c.x(cross.X), Text: cross.Text})
	}
	var out strings.Builder
	err := drawingTemplate.Execute(&out, d)
	return template.HTML(out.String()), err //nolint:gosec // the template has escaped what is in it
}

// Swatch returns a short piece of a line, for a legend.
func Swatch(number int) (template.HTML, error) {
	var out strings.Builder
	err := swatchTemplate.Execute(&out, shape{Style: style(number), Marks: symbol(style(number), 18, 7)})
	return template.HTML(out.String()), err //nolint:gosec // there is nothing of others in it
}

var (
	//go:embed chart.svg
	drawingText     string
	drawingTemplate = template.Must(template.New("chart.svg").Parse(drawingText))
	swatchTemplate  = template.Must(template.New("swatch").Parse(
		`<svg class="swatch" viewBox="0 0 36 14" width="36" height="14" aria-hidden="true"><path class="line s{{.Style}}" d="M1 7H35"/><path class="mark s{{.Style}}" d="{{.Marks}}"/></svg>`))
)

// drawing is what the template is filled with.
type drawing struct {
	*Chart
	Number                                  int
	Width, Height, Left, Right, Top, Bottom int
	XTicks, YTicks, Crosses                 []mark
	Lines, Bands                            []shape
}

type mark struct {
	At   string
	Text string
	Ends bool // the text ends at the edge of the drawing, rather than beyond it
}

// wideLetter is how wide a letter of a tick is at most, on the smallest screen.
const wideLetter = 9

// xTick returns a tick of the X axis.
func (c *Chart) xTick(tick float64) mark {
	text := c.X.Format(tick)
	at := left + c.X.share(tick)*(Width-right-left)
	return mark{At: c.x(tick), Text: text, Ends: at+wideLetter*float64(utf8.RuneCountInString(text))/2 > Width}
}

type shape struct {
	Name     string
	Style    int
	Thin     bool
	D, Marks string
}

func style(n int) int { return n % Styles }

func (c *Chart) x(v float64) string { return place(c.X.share(v), left, Width-right) }

func (c *Chart) y(v float64) string { return place(c.Y.share(v), Height-bottom, top) }

// place returns a place between two others, to a tenth.
func place(share, from, to float64) string {
	return strconv.FormatFloat(math.Round(10*(from+share*(to-from)))/10, 'f', -1, 64)
}

// path returns the d of a line.
func (c *Chart) path(points []Point) string {
	var d strings.Builder
	drawn := 0
	for i, p := range points {
		if math.IsNaN(p.Y) {
			drawn = 0
			continue
		}
		step := " L"
		if drawn == 0 {
			step = " M"
		}
		drawn++
		d.WriteString(step + c.x(p.X) + " " + c.y(p.Y))
		if drawn == 1 && (i+1 == len(points) || math.IsNaN(points[i+1].Y)) {
			d.WriteString(" h0.1") // one alone is a dot
		}
	}
	return strings.TrimSpace(d.String())
}

// area returns the d of a band.
func (c *Chart) area(b Band) string {
	points := append(make([]Point, 0, len(b.Low)+len(b.High)), b.Low...)
	for _, p := range slices.Backward(b.High) {
		points = append(points, p)
	}
	if len(points) == 0 {
		return ""
	}
	return c.path(points) + " Z"
}

// maxMarks is how many marks a line has.
const maxMarks = 7

// marks returns the d of the marks that tell a line from others.
func (c *Chart) marks(line Line) string {
	var d strings.Builder
	every := max(1, (len(line.Points)+maxMarks-1)/maxMarks)
	for i := every / 2; i < len(line.Points); i += every {
		p := line.Points[i]
		if !math.IsNaN(p.Y) {
			x := left + c.X.share(p.X)*(Width-right-left)
			y := (Height - bottom) + c.Y.share(p.Y)*(top-(Height-bottom))
			d.WriteString(symbol(style(line.Style), x, y))
		}
	}
	return d.String()
}

// symbol returns the d of the mark of a style around a place.
func symbol(style int, x, y float64) string {
	const r = 3.6
	at := func(format string) string {
		return fmt.Sprintf("M%.1f %.1f"+format, x, y)
	}
	switch style {
	case 0:
		return at(fmt.Sprintf("m-%[1]v 0a%[1]v %[1]v 0 1 0 %[2]v 0a%[1]v %[1]v 0 1 0 -%[2]v 0", r, 2*r))
	case 1:
		return at(fmt.Sprintf("m-%[1]v -%[1]vh%[2]vv%[2]vh-%[2]vz", r, 2*r))
	case 2:
		return at(fmt.Sprintf("m0 -%[1]vl%[1]v %[2]vh-%[2]vz", r, 2*r))
	case 3:
		return at("m0 -4.8l4.8 4.8l-4.8 4.8l-4.8 -4.8z")
	case 4:
		return at(fmt.Sprintf("m0 %[1]vl%[1]v -%[2]vh-%[2]vz", r, 2*r))
	default:
		return at("m-4 -1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z")
	}
}
