// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"net/http"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	for day := range 3000 {
		at := time.Date(2024, 1, 1, 23, 59, 58, 0, time.UTC).AddDate(0, 0, day)
		if got := ParseDate(at.Format(http.TimeFormat)); got != at.Unix() {
			t.Fatalf("%s: got %d, want %d", at, got, at.Unix())
		}
	}
	for _, bad := range []string{
		"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Xyz 1994 08:49:37 GMT",
		"Sun, 0a Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1869 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
	} {
		if got := ParseDate(bad); got != 0 {
			t.Errorf("%q: got %d", bad, got)
		}
	}
	text := []byte("Sun, 06 Nov 1994 08:49:37 GMT")
	if n := testing.AllocsPerRun(100, func() { ParseDate(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
