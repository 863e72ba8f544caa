// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func compileNow(c *call) (evaluator, error) {
	shift, err := c.offset()
	if err != nil {
		return nil, err
	}
	zone, err := c.zone()
	if err != nil {
		return nil, err
	}
	format, given, err := c.knownOption("format")
	switch {
	case err != nil:
		return nil, err
	case !given:
		return func(*scope) any { return shift(time.Now().UTC()).Format("2006-01-02T15:04:05Z") }, nil
	case format == "epoch":
		return func(*scope) any { return shift(time.Now().In(zone)).UnixMilli() }, nil
	case format == "unix":
		return func(*scope) any { return shift(time.Now().In(zone)).Unix() }, nil
	}
	layout, err := compileJavaDate(format)
	if err != nil {
		return nil, err
	}
	return func(*scope) any { return string(layout.append(nil, shift(time.Now().In(zone)))) }, nil
}

func (c *call) zone() (*time.Location, error) {
	name, given, err := c.knownOption("timezone")
	if err != nil || !given {
		return time.UTC, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("timezone '%s' is not known", name)
	}
	return zone, nil
}

// offset compiles a text like `3 days` or `-10 seconds`.
func (c *call) offset() (func(time.Time) time.Time, error) {
	text, given, err := c.knownOption("offset")
	if err != nil || !given {
		return func(t time.Time) time.Time { return t }, err
	}
	amount, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(amount)
	if err != nil {
		return nil, fmt.Errorf("offset '%s' is not like '3 days'", text)
	}
	switch strings.ToLower(strings.TrimSpace(unit)) {
	case "seconds":
		return shiftBy(time.Duration(n) * time.Second), nil
	case "minutes":
		return shiftBy(time.Duration(n) * time.Minute), nil
	case "hours":
		return shiftBy(time.Duration(n) * time.Hour), nil
	case "days":
		return func(t time.Time) time.Time { return t.AddDate(0, 0, n) }, nil
	case "months":
		return func(t time.Time) time.Time { return addMonths(t, n) }, nil
	case "years":
		return func(t time.Time) time.Time { return addMonths(t, 12*n) }, nil
	}
	return nil, fmt.Errorf("offset '%s': expected seconds, minutes, hours, days, months or years", text)
}

func shiftBy(d time.Duration) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return t.Add(d) }
}

// addMonths stays in the month that is meant: a month after January 31 is the
// end of February.
func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1)
}
