// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Field is a header field of answers.
type Field struct{ Name, Value string }

func hasBody(status int) bool {
	return status >= 200 && status != 204 && status != 205 && status != 304
}

// common returns the fields that all answers have which have a header.
func common(all [][]Field) []Field {
	var with [][]Field
	for _, fields := range all {
		if fields != nil {
			with = append(with, fields)
		}
	}
	if len(with) == 0 {
		return nil
	}
	var both []Field
	for _, f := range with[0] {
		if !slices.ContainsFunc(with, func(fields []Field) bool { return !slices.Contains(fields, f) }) {
			both = append(both, f)
		}
	}
	return both
}

// volatile are header fields that follow from the connection or the moment.
var volatile = map[string]bool{
	"date": true, "content-length": true, "transfer-encoding": true, "connection": true, "keep-alive": true, "trailer": true, "server": true, "via": true,
	"alt-svc": true, "age": true, "content-encoding": true, "upgrade": true, "proxy-connection": true, "x-rehearsal-copy": true,
}

// header returns the fields that nine of ten responses have with the same value,
// and the media type that most have.
func (a *answer) header() []Field {
	var fields []Field
	media, most := "", 0
	for line, n := range a.fields {
		name, value, _ := strings.Cut(line, ": ")
		switch lower := strings.ToLower(name); {
		case volatile[lower] || !plain(value):
		case lower == "content-type":
			if n > most || n == most && line < media {
				media, most = line, n
			}
		case float64(n) >= 0.9*float64(a.n):
			fields = append(fields, Field{name, value})
		}
	}
	if media != "" {
		name, value, _ := strings.Cut(media, ": ")
		fields = append(fields, Field{name, value})
	}
	slices.SortFunc(fields, func(a, b Field) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	return fields
}

// plain reports whether a text can stand on one line.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
