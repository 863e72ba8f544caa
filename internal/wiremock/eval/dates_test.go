// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"
	"testing"
	"time"
)

func TestJavaDates(t *testing.T) {
	at := time.Date(2018, 5, 5, 0, 11, 12, 34_000_000, time.FixedZone("AEST", 10*3600))
	for pattern, want := range map[string]string{
		"yyyy-MM-dd'T'HH:mm:ss.SSSZ": "2018-05-05T00:11:12.034+1000",
		"EEE, d MMM yy h:mm a":       "Sat, 5 May 18 12:11 AM",
		"EEEE MMMM D k K u":          "Saturday May 125 24 0 6",
		"X XX XXX z":                 "+10 +1000 +10:00 AEST",
		"''yyyy'' 'o''clock'":        "'2018' o'clock",
		"dd/MM/yyyy":                 "05/05/2018",
		"d é":                        "5 é",
		"yyyy年MM月dd日":                "2018年05月05日",
		"é\xff'\xc3'":                "é\xff\xc3",
		"d''d'a''''b'":               "5'5a''b",
	} {
		layout, err := CompileDateFormat(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got := string(layout.Append(nil, at)); got != want {
			t.Errorf("%s: got %s, want %s", pattern, got, want)
		}
	}
}

func TestMonthsStayInTheMonth(t *testing.T) {
	for _, tc := range []struct {
		from   string
		months int
		want   string
	}{
		{"2024-01-31", 1, "2024-02-29"},
		{"2023-01-31", 1, "2023-02-28"},
		{"2024-02-29", 12, "2025-02-28"},
		{"2024-03-31", -1, "2024-02-29"},
		{"2024-12-15", 2, "2025-02-15"},
	} {
		from, err := time.Parse(time.DateOnly, tc.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := addMonths(from, tc.months).Format(time.DateOnly); got != tc.want {
			t.Errorf("%s and %d months: got %s, want %s", tc.from, tc.months, got, tc.want)
		}
	}
}

// TestDatesAreRead holds what patterns read, and that they read what they write.
func TestDatesAreRead(t *testing.T) {
	for _, tc := range []struct{ pattern, text, want string }{
		{"yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2018-05-05T00:11:12.034+1000", "2018-05-05T00:11:12.034+10:00"},
		{"yyyy-MM-dd'T'HH:mm:ssXXX", "2018-05-05T00:11:12Z", "2018-05-05T00:11:12Z"},
		{"dd/MM/yyyy", "05/06/2018", "2018-06-05T00:00:00"},
		{"d/M/yy", "5/12/18", "2018-12-05T00:00:00"},
		{"yyyyMMdd", "20180605", "2018-06-05T00:00:00"},
		{"EEE, d MMM yyyy HH:mm:ss z", "Tue, 3 Jun 2008 11:05:30 GMT", "2008-06-03T11:05:30Z"},
		{"d MMMM yyyy h:mm a", "3 June 2008 12:05 AM", "2008-06-03T00:05:00"},
		{"yyyy-MM", "2021-02", "2021-02-01T00:00:00"},
		{"yyyy", "2021", "2021-01-01T00:00:00"},
		{"yyyy-MM-dd", "2021-02-31", "2021-02-28T00:00:00"},
		{"yyyy-MM-dd", "2021-13-01", ""},
		{"yyyy-MM-dd", "2021-1-1", ""},
		{"yyyy-MM-dd", "2021-01-01x", ""},
		{"HH:mm", "11:12", ""},
		{"unix", "1600000000", "2020-09-13T12:26:40Z"},
		{"epoch", "1600000000001", "2020-09-13T12:26:40.001Z"},
	} {
		format, err := CompileDateFormat(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if m, ok := format.Parse(tc.text); ok {
			got = written(m)
		}
		if got != tc.want {
			t.Errorf("%s of %s: got %s, want %s", tc.text, tc.pattern, got, tc.want)
		}
	}
}

func written(m Moment) string {
	if m.Zoned {
		return m.Time.Format("2006-01-02T15:04:05.999Z07:00")
	}
	return m.Time.Format("2006-01-02T15:04:05.999")
}

// TestMoments holds which forms are read without a pattern.
func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"2021-06-14T12:13:14Z":                     "2021-06-14T12:13:14Z",
		"2021-06-14T12:13:14.5+01:00":              "2021-06-14T12:13:14.5+01:00",
		"2021-06-14T12:13:14+01:00[Europe/London]": "2021-06-14T12:13:14+01:00",
		"2021-06-14T12:13Z":                        "2021-06-14T12:13:00Z",
		"Tue, 03 Jun 2008 11:05:30 GMT":            "2008-06-03T11:05:30Z",
		"Tuesday, 03-Jun-08 11:05:30 GMT":          "2008-06-03T11:05:30Z",
		"Tue Jun  3 11:05:30 2008":                 "2008-06-03T11:05:30Z",
		"2021-06-14T12:13:14":                      "2021-06-14T12:13:14",
		"2021-06-14":                               "2021-06-14T00:00:00",
		"2021-06":                                  "2021-06-01T00:00:00",
		"2021":                                     "2021-01-01T00:00:00",
		"":                                         "",
		"yesterday":                                "",
		"2021-06-14T12:13:14+01:00[Nowhere/AtAll]": "",
		strings.Repeat("2", 200):                   "",
	} {
		got := ""
		if m, ok := ParseMoment(text); ok {
			got = written(m)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// FuzzDates holds that no pattern and no text make more of a date than its size
// allows.
func FuzzDates(f *testing.F) {
	f.Add("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2021-06-14T12:13:14.500+01:00")
	f.Add("EEEE d MMMM yy h:mm a z''", "Tuesday 3 June 08 11:05 PM GMT'")
	f.Add("epoch", "-1600000000000")
	f.Add("D yyyyHHmm", "100 20211213")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		ParseMoment(text)
		if shift, err := ParseShift(text); err == nil {
			shift(time.Unix(0, 0))
		}
		format, err := CompileDateFormat(pattern)
		if err != nil {
			return
		}
		m, ok := format.Parse(text)
		if out := format.Append(nil, m.Time); len(out) > 100*(len(pattern)+100) {
			t.Fatalf("%d bytes, %t", len(out), ok)
		}
	})
}
