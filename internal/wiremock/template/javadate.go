// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
		letter := rest[0]
		n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		field, ok := javaField(letter, n)
		switch {
		case ok:
			fields = append(fields, field)
		case letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z':
			return nil, fmt.Errorf("format '%s': '%s' is not supported", pattern, rest[:n])
		default:
			fields = append(fields, javaLiteral(rest[:n]))
		}
		rest = rest[n:]
	}
	return fields, nil
}

// javaQuoted reads plain text in quotes; two quotes in a row are one.
func javaQuoted(from string) (content, rest string, err error) {
	if strings.HasPrefix(from, "''") {
		return "'", from[2:], nil
	}
	for rest = from[1:]; ; rest = rest[1:] {
		part, after, found := strings.Cut(rest, "'")
		if !found {
			return "", "", fmt.Errorf("format: the quote at %s is not closed", from)
		}
		content, rest = content+part, after
		if !strings.HasPrefix(rest, "'") {
			return content, rest, nil
		}
		content += "'"
	}
}

func javaLiteral(s string) func([]byte, time.Time) []byte {
	return func(buffer []byte, _ time.Time) []byte { return append(buffer, s...) }
}

// javaField gives what n times a letter stands for.
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
