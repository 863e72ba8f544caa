// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strconv"
	"strings"
	"time"
)

// dateReader is a date that is read field by field.
type dateReader struct {
	rest                 string
	year, month, day     int
	hour, minute, second int
	nano                 int
	half                 int // 1: before noon, 2: after
	ofYear               int // the day in the year
	zone                 *time.Location
	hasYear, half12      bool
}

// Parse reads a date that is written by the format; what it does not have begins:
// the year with January, the day at midnight.
func (f *DateFormat) Parse(text string) (Moment, bool) {
	if len(text) > longestMoment {
		return Moment{}, false
	}
	if f.epoch > 0 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Moment{}, false
		}
		if f.epoch == time.Second {
			return Moment{Time: time.Unix(n, 0).UTC(), Zoned: true}, true
		}
		return Moment{Time: time.UnixMilli(n).UTC(), Zoned: true}, true
	}
	r := dateReader{rest: text, month: 1, day: 1}
	for i, field := range f.fields {
		numberFollows := i+1 < len(f.fields) && javaNumbers[f.fields[i+1].letter] != nil
		if !r.field(field, numberFollows) {
			return Moment{}, false
		}
	}
	return r.moment()
}

func (r *dateReader) moment() (Moment, bool) {
	if r.half12 { // a clock of twelve hours
		if r.hour %= 12; r.half == 2 {
			r.hour += 12
		}
	}
	valid := r.rest == "" && r.hasYear && r.month >= 1 && r.month <= 12 && r.day >= 1 && r.day <= 31 &&
		r.hour <= 24 && r.minute < 60 && r.second < 60
	if !valid {
		return Moment{}, false
	}
	m := Moment{Zoned: r.zone != nil}
	if r.zone == nil {
		r.zone = time.UTC
	}
	last := time.Date(r.year, time.Month(r.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	m.Time = time.Date(r.year, time.Month(r.month), min(r.day, last), r.hour, r.minute, r.second, r.nano, r.zone)
	if r.ofYear > 0 {
		m.Time = m.Time.AddDate(0, 0, r.ofYear-1)
	}
	return m, true
}

// field takes what a field stands for off the text.
func (r *dateReader) field(f dateField, numberFollows bool) bool {
	if f.letter == 0 {
		var found bool
		r.rest, found = strings.CutPrefix(r.rest, f.text)
		return found
	}
	switch f.letter {
	case 'w', 'W', 'F', 'G', 'u', 'Y':
		return false // of which no date is made
	case 'E':
		return r.word(weekdays, nil)
	case 'a':
		return r.word([]string{"AM", "PM"}, &r.half)
	case 'z', 'Z', 'X', 'x':
		return r.offset(f.letter)
	case 'S':
		return r.fraction(f.count)
	case 'M':
		if f.count > 2 {
			return r.word(months, &r.month)
		}
	}
	width := f.count
	if width == 1 && !numberFollows || f.letter == 'y' && f.count != 2 && !numberFollows {
		width = 0
	}
	n, ok := r.number(width)
	if !ok {
		return false
	}
	return r.set(f, n)
}

func (r *dateReader) set(f dateField, n int) bool {
	switch f.letter {
	case 'y':
		if f.count == 2 {
			n += 2000
		}
		r.year, r.hasYear = n, true
	case 'M':
		r.month = n
	case 'd':
		r.day = n
	case 'D':
		r.ofYear = n
	case 'H', 'k':
		r.hour = n
		if f.letter == 'k' && n == 24 {
			r.hour = 0
		}
	case 'h', 'K':
		r.hour, r.half12 = n, true
	case 'm':
		r.minute = n
	case 's':
		r.second = n
	}
	return true
}

// number reads digits: so many, or as many as there are.
func (r *dateReader) number(width int) (int, bool) {
	end := 0
	for end < len(r.rest) && end < 9 && r.rest[end] >= '0' && r.rest[end] <= '9' && (width == 0 || end < width) {
		end++
	}
	if end == 0 || end < width {
		return 0, false
	}
	n, err := strconv.Atoi(r.rest[:end])
	r.rest = r.rest[end:]
	return n, err == nil
}

func (r *dateReader) fraction(digits int) bool {
	if digits > 9 || len(r.rest) < digits {
		return false
	}
	n, err := strconv.ParseUint(r.rest[:digits], 10, 32)
	if err != nil {
		return false
	}
	r.nano = int(n)
	for range 9 - digits {
		r.nano *= 10
	}
	r.rest = r.rest[digits:]
	return true
}

var (
	weekdays = names(7, func(i int) string { return time.Weekday(i).String() })
	months   = names(12, func(i int) string { return time.Month(i + 1).String() })
)

// names returns names with, behind them, their first three letters.
func names(n int, name func(int) string) (all []string) {
	for i := range n {
		all = append(all, name(i))
	}
	for i := range n {
		all = append(all, name(i)[:3])
	}
	return all
}

// word reads one of some words and sets its place, counted from 1.
func (r *dateReader) word(words []string, to *int) bool {
	for i, word := range words {
		if rest, found := strings.CutPrefix(r.rest, word); found {
			r.rest = rest
			if to != nil {
				if *to = i + 1; len(words) == len(months) {
					*to = i%12 + 1
				}
			}
			return true
		}
	}
	return false
}

// offset reads a zone: an offset, Z, or a name that means the same everywhere.
func (r *dateReader) offset(letter byte) bool {
	if letter == 'z' {
		for _, name := range []string{"GMT", "UTC", "UT"} {
			if rest, found := strings.CutPrefix(r.rest, name); found {
				r.rest, r.zone = rest, time.UTC
				return true
			}
		}
		return false
	}
	if rest, found := strings.CutPrefix(r.rest, "Z"); found && letter == 'X' {
		r.rest, r.zone = rest, time.UTC
		return true
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if len(r.rest) < len(layout) {
			continue
		}
		if t, err := time.Parse(layout, r.rest[:len(layout)]); err == nil {
			_, seconds := t.Zone()
			r.rest, r.zone = r.rest[len(layout):], time.FixedZone("", seconds)
			return true
		}
	}
	return false
}
