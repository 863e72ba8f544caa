// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package timeshift

import (
	"bytes"
	"strconv"
	"time"
)

const (
	httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
	seconds  = len("1800000000")
	millis   = len("1800000000000")
)

// text moves the times in a text: those of RFC 3339, HTTP's dates, and seconds or
// milliseconds since 1970 that stand alone.
func (m *move) text(text []byte) []byte {
	var out []byte
	done := 0
	for at := 0; at < len(text); {
		length, moved := 0, ""
		switch c := text[at]; {
		case c >= '0' && c <= '9' && (at == 0 || !isWord(text[at-1])):
			length, moved = m.number(text[at:])
		case c >= 'F' && c <= 'W' && at+len(httpDate) <= len(text) && text[at+3] == ',':
			length, moved = m.httpDate(text[at : at+len(httpDate)])
		}
		if length == 0 {
			at++
			continue
		}
		if moved != "" && !m.kept(text[at:at+length]) {
			out = append(append(out, text[done:at]...), moved...)
			done = at + length
		}
		at += length
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || c == '%'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number returns how long the number or date at the beginning of a text is, and
// what it becomes; nothing if it stays.
func (m *move) number(text []byte) (length int, moved string) {
	for length < len(text) && isDigit(text[length]) {
		length++
	}
	rest := text[length:]
	if length == 4 && len(rest) > 0 && rest[0] == '-' {
		return m.date(text)
	}
	if length != seconds && length != millis || len(rest) > 0 && isWord(rest[0]) && !isFraction(rest) {
		return length, ""
	}
	n, err := strconv.ParseInt(string(text[:length]), 10, 64)
	if err != nil {
		return length, ""
	}
	if length == seconds {
		if !m.near(time.Unix(n, 0)) {
			return length, ""
		}
		return length, strconv.FormatInt(n+int64(m.by.Round(time.Second)/time.Second), 10)
	}
	if !m.near(time.UnixMilli(n)) {
		return length, ""
	}
	return length, strconv.FormatInt(n+m.by.Milliseconds(), 10)
}

// isFraction reports whether decimals follow and end.
func isFraction(rest []byte) bool {
	if rest[0] != '.' {
		return false
	}
	n := 1
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	return n > 1 && (n == len(rest) || !isWord(rest[n]))
}

// date moves a time of RFC 3339 at the beginning of a text, in its own zone and
// with as many decimals.
func (m *move) date(text []byte) (length int, moved string) {
	const whole = "2006-01-02T15:04:05"
	if len(text) < len(whole)+1 || text[10] != 'T' && text[10] != ' ' {
		return 4, ""
	}
	end := len(whole)
	decimals := 0
	if text[end] == '.' {
		for end++; end < len(text) && isDigit(text[end]); end++ {
			decimals++
		}
	}
	switch rest := text[end:]; {
	case len(rest) > 0 && rest[0] == 'Z':
		end++
	case len(rest) >= len("+00:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		end += len("+00:00")
	default:
		return 4, ""
	}
	layout := whole
	if decimals > 0 {
		layout += "." + string(bytes.Repeat([]byte{'0'}, decimals))
	}
	layout += "Z07:00"
	said := bytes.Clone(text[:end])
	separator := said[10]
	said[10] = 'T'
	t, err := time.Parse(layout, string(said))
	if err != nil || decimals > 9 {
		return 4, ""
	}
	if !m.near(t) {
		return end, ""
	}
	shifted := []byte(t.Add(m.by).Format(layout))
	shifted[10] = separator
	return end, string(shifted)
}

// httpDate moves a date in the form of HTTP's fields.
func (m *move) httpDate(text []byte) (length int, moved string) {
	t, err := time.Parse(httpDate, string(text))
	if err != nil {
		return 0, ""
	}
	if !m.near(t) {
		return len(text), ""
	}
	return len(text), t.Add(m.by).UTC().Format(httpDate)
}
