// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestTicksAreEvenAndFew(t *testing.T) {
	for _, tc := range []struct {
		axis Axis
		want string
	}{
		{Axis{Low: 0, High: 10}, "[0 2 4 6 8 10]"},
		{Axis{Low: 0, High: 1}, "[0 0.2 0.4 0.6000000000000001 0.8 1]"},
		{Axis{Low: 0, High: 0}, "[0]"},
		{Axis{Low: 1, High: 100, Log: true}, "[1 2 5 10 20 50 100]"},
		{Axis{Low: 0.5, High: 20000, Log: true}, "[1 10 100 1000 10000]"},
		{Axis{Low: 2, High: 5, Log: true}, "[2 5]"},
		{Axis{Low: 0, High: 5, Ticks: []float64{-1, 0, 3, 9}}, "[0 3]"},
	} {
		if got := fmt.Sprint(tc.axis.ticks()); got != tc.want {
			t.Errorf("%+v: got %s, want %s", tc.axis, got, tc.want)
		}
	}
}

func TestAroundHoldsAllValues(t *testing.T) {
	for _, tc := range []struct {
		log    bool
		values []float64
		want   string
	}{
		{false, nil, "0 1"},
		{false, []float64{0}, "0 1"},
		{false, []float64{3, 97}, "0 100"},
		{true, nil, "1 10"},
		{true, []float64{0, math.NaN(), 3}, "2 5"},
		{true, []float64{5}, "5 10"},
		{true, []float64{0.3, 700}, "0.2 1000"},
	} {
		low, high := Around(tc.log, tc.values...)
		if got := fmt.Sprint(low, high); got != tc.want {
			t.Errorf("%v, log %v: got %s, want %s", tc.values, tc.log, got, tc.want)
		}
	}
}

// What is drawn is XML, within its box, with names as text, whatever the values.
func TestDrawingStaysInItsBox(t *testing.T) {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	c := Chart{
		Title: `</title><script>alert(1)</script>`, Summary: `"&'`,
		X: Axis{Low: 0, High: 10, Format: text, Label: "<b>"}, Y: Axis{Low: 1, High: 1000, Log: true, Format: text},
		Lines: []Line{{Name: "a", Points: []Point{{0, 0}, {1, math.NaN()}, {2, 5}, {3, math.NaN()}, {11, 1e9}, {-5, -1}, {math.MaxFloat64, math.Inf(1)}}}},
		Bands: []Band{{Low: []Point{{0, 1}, {10, 10}}, High: []Point{{0, 2}, {10, 2000}}}, {}},
	}
	for i := range 2 * Styles {
		c.Lines = append(c.Lines, Line{Style: i, Points: []Point{{5, 5}}})
	}
	c.Crosses = []Cross{{X: -1, Text: "</path>"}}
	svg, err := c.SVG(3)
	if err != nil {
		t.Fatal(err)
	}
	texts := ""
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "script" {
				t.Error("a script came through")
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.Contains(a.Value, "e+") {
					t.Errorf("%s has %q", e.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts += string(e)
		}
	}
	if !strings.Contains(texts, c.Title) || !strings.Contains(texts, c.Summary) {
		t.Errorf("texts are %q", texts)
	}
	if d := c.path([]Point{{-5, -1}, {math.MaxFloat64, 1e300}}); d != fmt.Sprintf("M%d %d L%d %d", left, Height-bottom, Width-right, top) {
		t.Errorf("got %s", d)
	}
	for i := range Styles {
		for j := range i {
			if symbol(i, 0, 0) == symbol(j, 0, 0) {
				t.Errorf("marks %d and %d are the same", i, j)
			}
		}
	}
}

// The text of the last tick ends at the edge, if it would go beyond.
func TestTicksStayInTheDrawing(t *testing.T) {
	c := Chart{X: Axis{Low: 0, High: 10, Format: func(v float64) string { return fmt.Sprint(v, " min") }}, Y: Axis{High: 1, Format: func(float64) string { return "" }}}
	if got := c.xTick(10); !got.Ends {
		t.Errorf("the last is %+v", got)
	}
	if got := c.xTick(8); got.Ends {
		t.Errorf("one before is %+v", got)
	}
	svg, err := c.SVG(1)
	if err != nil || !strings.Contains(string(svg), `x="480" y="222" dy="15" text-anchor="end">10 min<`) {
		t.Errorf("got %s, %v", svg, err)
	}
}
