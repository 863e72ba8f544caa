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
	return func(s *scope) any {
		if !s.budget.Spend(len(format)) {
			return nil
		}
		return string(layout.append(nil, shift(time.Now().In(zone))))
	}, nil
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

// javaDate is a compiled pattern of Java's SimpleDateFormat.
type javaDate []func(buffer []byte, t time.Time) []byte

func (d javaDate) append(buffer []byte, t time.Time) []byte {
	for _, field := range d {
		buffer = field(buffer, t)
	}
	return buffer
}

// compileJavaDate refuses the letters that it does not know.
func compileJavaDate(pattern string) (javaDate, error) {
	var fields javaDate
	for rest := pattern; rest != ""; {
		if rest[0] == '\'' {
			quoted, after, err := javaQuoted(rest)
			if err != nil {
				return nil, err
			}
			fields, rest = append(fields, javaLiteral(quoted)), after
			continue
		}
		if n := plainLength(rest); n > 0 { // letters outside of ASCII are plain too
			fields, rest = append(fields, javaLiteral(rest[:n])), rest[n:]
			continue
		}
		letter, n := rest[0], len(rest)-len(strings.TrimLeft(rest, rest[:1]))
		field, ok := javaField(letter, n)
		if !ok {
			return nil, fmt.Errorf("format '%s': '%s' is not supported", pattern, rest[:n])
		}
		fields, rest = append(fields, field), rest[n:]
	}
	return fields, nil
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

func javaLiteral(s string) func([]byte, time.Time) []byte {
	return func(buffer []byte, _ time.Time) []byte { return append(buffer, s...) }
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
		layout = "MST"
	case letter == 'Z':
		layout = "-0700"
	case letter == 'X' && n <= 3:
		layout = []string{"Z07", "Z0700", "Z07:00"}[n-1]
	default:
		return nil, false
	}
	return func(buffer []byte, t time.Time) []byte { return t.AppendFormat(buffer, layout) }, true
}

// javaNumbers are the fields that are numbers, padded to as many digits as
// there are letters.
var javaNumbers = map[byte]func(time.Time) int{
	'M': func(t time.Time) int { return int(t.Month()) },
	'd': time.Time.Day,
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

func appendPadded(buffer []byte, number, width int) []byte {
	text := strconv.Itoa(number)
	for range width - len(text) {
		buffer = append(buffer, '0')
	}
	return append(buffer, text...)
}
