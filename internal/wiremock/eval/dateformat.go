// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DateFormat is a compiled pattern of Java's, by which dates are written and
// read.
type DateFormat struct {
	fields []dateField
	epoch  time.Duration // the unit of a plain number since 1970; 0: it is none
}

// dateField is a letter with how often it stands there, or plain text.
type dateField struct {
	letter byte // 0: plain text
	count  int
	text   string
	write  func(buffer []byte, t time.Time) []byte
}

// CompileDateFormat reads a pattern: letters of Java's, `unix` for seconds or
// `epoch` for milliseconds since 1970. It refuses the letters that it does not
// know.
func CompileDateFormat(pattern string) (*DateFormat, error) {
	switch strings.ToLower(pattern) {
	case "unix":
		return &DateFormat{epoch: time.Second}, nil
	case "epoch":
		return &DateFormat{epoch: time.Millisecond}, nil
	}
	f := new(DateFormat)
	for rest := pattern; rest != ""; {
		if rest[0] == '\'' {
			quoted, after, err := javaQuoted(rest)
			if err != nil {
				return nil, err
			}
			f.fields, rest = append(f.fields, plainDate(quoted)), after
			continue
		}
		if n := plainLength(rest); n > 0 { // letters outside of ASCII are plain too
			f.fields, rest = append(f.fields, plainDate(rest[:n])), rest[n:]
			continue
		}
		letter, n := rest[0], len(rest)-len(strings.TrimLeft(rest, rest[:1]))
		if letter == 'L' { // a month that stands alone, which in English is no other word
			letter = 'M'
		}
		write, ok := javaField(letter, n)
		if !ok {
			return nil, fmt.Errorf("format '%s': '%s' is not supported", pattern, rest[:n])
		}
		f.fields, rest = append(f.fields, dateField{letter: letter, count: n, write: write}), rest[n:]
	}
	return f, nil
}

func plainDate(text string) dateField {
	return dateField{text: text, write: func(buffer []byte, _ time.Time) []byte { return append(buffer, text...) }}
}

// Append writes a date.
func (f *DateFormat) Append(buffer []byte, t time.Time) []byte {
	if f.epoch > 0 {
		return strconv.AppendInt(buffer, t.UnixMilli()/int64(f.epoch/time.Millisecond), 10)
	}
	for _, field := range f.fields {
		buffer = field.write(buffer, t)
	}
	return buffer
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// plainLength returns the length of the text up to a letter or a quote.
func plainLength(text string) int {
	for i := range len(text) {
		if text[i] == '\'' || isLetter(text[i]) {
			return i
		}
	}
	return len(text)
}

// javaQuoted reads plain text in quotes; two quotes in a row are one.
func javaQuoted(from string) (content, rest string, err error) {
	if strings.HasPrefix(from, "''") {
		return "'", from[2:], nil
	}
	var out strings.Builder
	for rest = from[1:]; ; rest = rest[1:] {
		part, after, found := strings.Cut(rest, "'")
		if !found {
			return "", "", fmt.Errorf("format: the quote at %s is not closed", from)
		}
		out.WriteString(part)
		if rest = after; !strings.HasPrefix(rest, "'") {
			return out.String(), rest, nil
		}
		out.WriteByte('\'')
	}
}

// javaField returns what n times a letter stands for.
func javaField(letter byte, n int) (func([]byte, time.Time) []byte, bool) {
	if number, ok := javaNumbers[letter]; ok && (letter != 'M' || n < 3) {
		return func(buffer []byte, t time.Time) []byte { return appendPadded(buffer, number(t), n) }, true
	}
	layout := ""
	switch {
	case letter == 'y' && n == 2:
		layout = "06"
	case letter == 'Y':
		return func(buffer []byte, t time.Time) []byte {
			year, _ := weekOf(t)
			if n == 2 {
				return appendPadded(buffer, year%100, 2)
			}
			return appendPadded(buffer, year, n)
		}, true
	case letter == 'G':
		return func(buffer []byte, _ time.Time) []byte { return append(buffer, "AD"...) }, true
	case letter == 'y':
		return func(buffer []byte, t time.Time) []byte { return appendPadded(buffer, t.Year(), n) }, true
	case letter == 'M' && n == 3:
		layout = "Jan"
	case letter == 'M':
		layout = "January"
	case letter == 'E' && n < 4:
		layout = "Mon"
	case letter == 'E':
		layout = "Monday"
	case letter == 'a':
		layout = "PM"
	case letter == 'z' && n < 4:
		return appendZone, true
	case letter == 'Z':
		layout = "-0700"
	case letter == 'x' && n <= 3:
		layout = []string{"-07", "-0700", "-07:00"}[n-1]
	case letter == 'X' && n <= 3:
		layout = []string{"Z07", "Z0700", "Z07:00"}[n-1]
	default:
		return nil, false
	}
	return func(buffer []byte, t time.Time) []byte { return t.AppendFormat(buffer, layout) }, true
}

// appendZone appends the name of a time's zone; one that has none is called by its
// distance from GMT.
func appendZone(buffer []byte, t time.Time) []byte {
	if name, _ := t.Zone(); name != "" && isLetter(name[0]) {
		return append(buffer, name...)
	}
	return t.AppendFormat(buffer, "GMT-07:00")
}

// javaNumbers are the fields that are numbers, padded to as many digits as
// there are letters.
var javaNumbers = map[byte]func(time.Time) int{
	'M': func(t time.Time) int { return int(t.Month()) },
	'd': time.Time.Day,
	'w': func(t time.Time) int { _, week := weekOf(t); return week },
	'W': func(t time.Time) int { return (t.Day()-1+int(t.AddDate(0, 0, 1-t.Day()).Weekday()))/7 + 1 },
	'F': func(t time.Time) int { return (t.Day()-1)/7 + 1 },
	'D': time.Time.YearDay,
	'H': time.Time.Hour,
	'k': func(t time.Time) int { return (t.Hour()+23)%24 + 1 },
	'K': func(t time.Time) int { return t.Hour() % 12 },
	'h': func(t time.Time) int { return (t.Hour()+11)%12 + 1 },
	'm': time.Time.Minute,
	's': time.Time.Second,
	'S': func(t time.Time) int { return t.Nanosecond() / int(time.Millisecond) },
	'u': func(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 },
}

// weekOf returns the week of a time, and the year that it belongs to: weeks begin
// on Sundays, and the first one has January 1.
func weekOf(t time.Time) (year, week int) {
	begin := t.AddDate(0, 0, -int(t.Weekday()))
	if end := begin.AddDate(0, 0, 6); end.Year() > t.Year() {
		return end.Year(), 1
	}
	january := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
	return t.Year(), (t.YearDay()-1+int(january.Weekday()))/7 + 1
}

func appendPadded(buffer []byte, number, width int) []byte {
	text := strconv.Itoa(number)
	for range width - len(text) {
		buffer = append(buffer, '0')
	}
	return append(buffer, text...)
}
