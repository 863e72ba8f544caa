// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import "time"

// ParseDate returns the time of a Date field in the form that servers send (RFC
// 9110, section 5.6.7), "Sun, 06 Nov 1994 08:49:37 GMT", in seconds since 1970, or
// 0 for any other text. Nothing is allocated.
func ParseDate[T string | []byte](text T) int64 {
	const form = "Sun, 06 Nov 1994 08:49:37 GMT"
	if len(text) != len(form) || text[3] != ',' || text[19] != ':' || text[22] != ':' || string(text[25:]) != " GMT" {
		return 0
	}
	var month time.Month
	for m := time.January; m <= time.December; m++ {
		if name := m.String(); text[8] == name[0] && text[9] == name[1] && text[10] == name[2] {
			month = m
		}
	}
	ok := month > 0
	number := func(from, to int) (n int) {
		for _, digit := range []byte(text[from:to]) {
			ok = ok && isDigit(digit)
			n = n*10 + int(digit-'0')
		}
		return n
	}
	day, year := number(5, 7), number(12, 16)
	hour, minute, second := number(17, 19), number(20, 22), number(23, 25)
	if !ok || year < 1970 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix()
}
