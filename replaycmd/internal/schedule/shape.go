// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/units"
)

// Shape is a rate that changes along straight lines between points. As text it is
// `500/s`, which does not change; `10/s..200/s`, one line for as long as the run
// takes; or points in the order of their times, `0s:10/s 30s:200/s 2m:200/s`, of
// which the last is the end of the run.
type Shape struct {
	text   string
	points []point
	ramp   bool // between two points, of which the second has no time yet
}

// point is a rate at a time since the start.
type point struct {
	at    time.Duration
	rate  float64 // per second
	count float64 // requests that are due until then
}

// maxPoints is the most points of a shape.
const maxPoints = 1000

// ParseShape reads a shape.
func ParseShape(text string) (Shape, error) {
	s := Shape{text: text}
	from, to, isRamp := strings.Cut(text, "..")
	switch {
	case isRamp:
		s.ramp = true
		for _, part := range []string{from, to} {
			rate, err := parseRateOrNone(part)
			if err != nil {
				return Shape{}, fmt.Errorf("'%s' is not a ramp: expected one like 10/s..200/s", text)
			}
			s.points = append(s.points, point{rate: rate})
		}
		if s.points[0].rate+s.points[1].rate == 0 {
			return Shape{}, fmt.Errorf("'%s' sends nothing: expected a rate above 0 at one end, like 0/s..200/s", text)
		}
	case strings.Contains(text, ":"):
		if err := s.parsePoints(text); err != nil {
			return Shape{}, err
		}
	default:
		rate, err := ParseRate(text)
		if err != nil {
			return Shape{}, err
		}
		return Steady(rate), nil
	}
	if s.sum(); !s.ramp && s.points[len(s.points)-1].count == 0 {
		return Shape{}, fmt.Errorf("'%s' sends nothing: expected a point with a rate above 0, like 30s:200/s", text)
	}
	return s, nil
}

// Steady returns a shape that does not change.
func Steady(rate Rate) Shape {
	return Shape{text: rate.String(), points: []point{{rate: float64(rate)}}}
}

// parsePoints reads points and checks that they follow one another.
func (s *Shape) parsePoints(text string) error {
	for word := range strings.FieldsSeq(text) {
		at, rate, found := strings.Cut(word, ":")
		d, err := units.ParseDuration(at)
		if !found || err != nil || d < 0 {
			return fmt.Errorf("'%s' is not a point of a rate: expected one like 30s:200/s", word)
		}
		r, err := parseRateOrNone(rate)
		if err != nil {
			return err
		}
		last := len(s.points) - 1
		switch {
		case last < 0 && d > 0:
			return fmt.Errorf("'%s' does not begin: expected its first point at 0s", text)
		case last >= 0 && d < s.points[last].at:
			return fmt.Errorf("'%s' is before the point that precedes it", word)
		case last+1 == maxPoints:
			return fmt.Errorf("there are more than %d points", maxPoints)
		}
		s.points = append(s.points, point{at: d, rate: r})
	}
	if len(s.points) < 2 || s.End() == 0 {
		return fmt.Errorf("'%s' has no end: expected points like 0s:10/s 30s:200/s", text)
	}
	return nil
}

// parseRateOrNone reads a rate that may be 0.
func parseRateOrNone(text string) (float64, error) {
	if number, _, _ := strings.Cut(text, "/"); number == "0" {
		return 0, nil
	}
	rate, err := ParseRate(text)
	return float64(rate), err
}

// sum counts the requests up to each point.
func (s *Shape) sum() {
	for i := 1; i < len(s.points); i++ {
		before, p := s.points[i-1], &s.points[i]
		p.count = before.count + (before.rate+p.rate)/2*(p.at-before.at).Seconds()
	}
}

// Within returns the shape with the time that a ramp takes. Of any other shape it
// returns the same.
func (s Shape) Within(duration time.Duration) (Shape, error) {
	if !s.ramp {
		return s, nil
	}
	if duration == 0 {
		return s, errors.New("a ramp takes as long as the run: expected --duration, or points like 0s:10/s 30s:200/s")
	}
	s.points = []point{s.points[0], {at: duration, rate: s.points[1].rate}}
	s.sum()
	return s, nil
}

// Given reports whether there is a shape.
func (s Shape) Given() bool { return len(s.points) > 0 }

// End returns when the last point is, 0 if the rate goes on.
func (s Shape) End() time.Duration {
	if len(s.points) < 2 {
		return 0
	}
	return s.points[len(s.points)-1].at
}

// First returns the rate at the start, per second.
func (s Shape) First() float64 { return s.points[0].rate }

// String returns the text of the shape.
func (s Shape) String() string { return s.text }

// Due returns the time at which so many requests have become due, and whether that
// is before the end.
func (s Shape) Due(count float64) (time.Duration, bool) {
	last := s.points[len(s.points)-1]
	if len(s.points) == 1 {
		return clamp(count / last.rate * float64(time.Second)), true
	}
	if count >= last.count {
		return last.at, false
	}
	for i := 1; ; i++ {
		from, to := s.points[i-1], s.points[i]
		if count >= to.count {
			continue
		}
		return from.at + clamp(from.until(to, count-from.count)*float64(time.Second)), true
	}
}

// until returns the seconds after which so many requests are due on the line from
// a point to another: the root of rate·x + slope/2·x² = count, in the form that
// loses no digits where the slope is small.
func (p point) until(to point, count float64) float64 {
	slope := (to.rate - p.rate) / (to.at - p.at).Seconds()
	root := math.Sqrt(math.Max(0, p.rate*p.rate+2*slope*count))
	if p.rate+root == 0 {
		return 0
	}
	return 2 * count / (p.rate + root)
}

// Mean returns the mean rate per second over a time, or over all of it for 0.
func (s Shape) Mean(within time.Duration) float64 {
	end := s.End()
	switch {
	case len(s.points) == 0:
		return 0
	case end == 0:
		return s.points[0].rate
	case within == 0 || within >= end:
		return s.points[len(s.points)-1].count / end.Seconds()
	}
	for i := 1; ; i++ {
		from, to := s.points[i-1], s.points[i]
		if within > to.at {
			continue
		}
		x := (within - from.at).Seconds()
		slope := (to.rate - from.rate) / (to.at - from.at).Seconds()
		return (from.count + from.rate*x + slope/2*x*x) / within.Seconds()
	}
}
