// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// mostShift bounds the number of units of an offset: beyond, years have no
// meaning.
const mostShift = 1 << 31

// Shift returns a function that moves a time by a number of units: seconds to
// years. The end of a month stays one.
func Shift(n int, unit string) (func(time.Time) time.Time, error) {
	if n >= mostShift || n <= -mostShift {
		return nil, fmt.Errorf("an offset of %d is too large", n)
	}
	by := func(unit time.Duration) func(time.Time) time.Time {
		return func(t time.Time) time.Time {
			return time.Unix(t.Unix()+int64(n)*int64(unit/time.Second), int64(t.Nanosecond())).In(t.Location())
		}
	}
	switch strings.ToLower(strings.TrimSpace(unit)) {
	case "seconds":
		return by(time.Second), nil
	case "minutes":
		return by(time.Minute), nil
	case "hours":
		return by(time.Hour), nil
	case "days":
		return func(t time.Time) time.Time { return t.AddDate(0, 0, n) }, nil
	case "months":
		return func(t time.Time) time.Time { return addMonths(t, n) }, nil
	case "years":
		return func(t time.Time) time.Time { return addMonths(t, 12*n) }, nil
	}
	return nil, fmt.Errorf("expected seconds, minutes, hours, days, months or years, got '%s'", unit)
}

// ParseShift reads an offset like `3 days`, `-10 seconds` or `now +2 months`.
func ParseShift(text string) (func(time.Time) time.Time, error) {
	words := strings.Fields(text)
	if len(words) > 0 && strings.EqualFold(words[0], "now") {
		words = words[1:]
		if len(words) == 0 {
			return func(t time.Time) time.Time { return t }, nil
		}
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("offset '%s' is not like '3 days'", text)
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return nil, fmt.Errorf("offset '%s' is not like '3 days'", text)
	}
	shift, err := Shift(n, words[1])
	if err != nil {
		return nil, fmt.Errorf("offset '%s': %w", text, err)
	}
	return shift, nil
}

// addMonths stays in the month that is meant: a month after January 31 is the
// end of February.
func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1)
}
