// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"
	"time"
)

// Moment is a date with or without a time and a zone. Without a zone the time is
// that of a clock on the wall, kept as if it were UTC.
type Moment struct {
	Time  time.Time
	Zoned bool
}

// Wall returns what a clock on the wall shows, as UTC.
func (m Moment) Wall() time.Time {
	t := m.Time
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// The forms that WireMock takes without being told one: ISO 8601 and the three of
// HTTP.
var (
	zonedLayouts = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00:00",
		"Mon, 2 Jan 2006 15:04:05 GMT", "Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 GMT", "2 Jan 2006 15:04:05 -0700",
		"Monday, 02-Jan-06 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 UTC",
		"Mon Jan 02 15:04:05 2006", "Mon Jan  2 15:04:05 2006",
	}
	wallLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "2006-01", "2006"}
)

// longestMoment bounds what is read as a date, in bytes.
const longestMoment = 100

// ParseMoment reads a date in one of the forms that need no pattern.
func ParseMoment(text string) (Moment, bool) {
	if len(text) > longestMoment || text == "" {
		return Moment{}, false
	}
	if m, ok := parseZoned(text); ok {
		return m, true
	}
	for _, layout := range wallLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return Moment{Time: t}, true
		}
	}
	return Moment{}, false
}

func parseZoned(text string) (Moment, bool) {
	var zone *time.Location
	if rest, found := strings.CutSuffix(text, "]"); found && strings.Contains(text, "T") { // 2021-06-14T12:00+01:00[Europe/London]
		plain, name, found := strings.Cut(rest, "[")
		location, err := time.LoadLocation(name)
		if !found || err != nil {
			return Moment{}, false
		}
		text, zone = plain, location
	}
	for _, layout := range zonedLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			if zone != nil {
				t = t.In(zone)
			}
			return Moment{Time: t, Zoned: true}, true
		}
	}
	return Moment{}, false
}

// truncations change a time as WireMock's truncations of their names do.
var truncations = map[string]func(time.Time) time.Time{
	"first second of minute":  func(t time.Time) time.Time { return midnight(t).Add(clock(t, time.Minute)) },
	"first minute of hour":    func(t time.Time) time.Time { return midnight(t).Add(clock(t, time.Hour)) },
	"first hour of day":       func(t time.Time) time.Time { return midnight(t) },
	"first day of month":      func(t time.Time) time.Time { return firstOf(t, t.Month()) },
	"first day of next month": func(t time.Time) time.Time { return firstOf(t, t.Month()+1) },
	"last day of month":       func(t time.Time) time.Time { return firstOf(t, t.Month()+1).AddDate(0, 0, -1) },
	"first day of year":       func(t time.Time) time.Time { return firstOf(t, time.January) },
	"first day of next year":  func(t time.Time) time.Time { return firstOf(t, time.January+12) },
	"last day of year":        func(t time.Time) time.Time { return firstOf(t, time.January+12).AddDate(0, 0, -1) },
}

// Truncation returns the truncation of a name, which may be written with _ and in
// any case; nil: there is none.
func Truncation(name string) func(time.Time) time.Time {
	return truncations[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", " ")]
}

func firstOf(t time.Time, month time.Month) time.Time {
	return time.Date(t.Year(), month, 1, 0, 0, 0, 0, t.Location())
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// clock returns how far into its day a time is, in whole units.
func clock(t time.Time, unit time.Duration) time.Duration {
	return t.Sub(midnight(t)).Truncate(unit)
}
