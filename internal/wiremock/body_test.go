// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestPackedBodiesAreBounded holds that a body that is packed may become as much
// as its size allows, and that one which becomes more is refused.
func TestPackedBodiesAreBounded(t *testing.T) {
	set := parse(t, `{"request":{"bodyPatterns":[{"contains":"a"}]}}`)
	for _, tc := range []struct {
		body    string
		tooMuch bool
	}{
		{strings.Repeat("a", 1<<20), false},
		{strings.Repeat("a", 10<<20), true},
	} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(tc.body))
		_ = w.Close()
		r := newRequest(exchange{Method: "POST", Target: "/", Body: packed.String(), Headers: [][2]string{{"Content-Encoding", "gzip"}}})
		m, err := set.Match(r)
		if errors.Is(err, ErrTooMuch) != tc.tooMuch || (m != nil) == tc.tooMuch {
			t.Errorf("%d bytes packed as %d: %v, %v", len(tc.body), packed.Len(), m, err)
		}
	}
}

// TestDatesFromNow holds what offsets and truncations make of the time that it
// is.
func TestDatesFromNow(t *testing.T) {
	now := time.Date(2024, 1, 31, 10, 11, 12, 0, time.UTC)
	for _, tc := range []struct{ condition, equals string }{
		{`{"equalToDateTime":"now"}`, "2024-01-31T10:11:12Z"},
		{`{"equalToDateTime":"now +1 months"}`, "2024-02-29T10:11:12Z"},
		{`{"equalToDateTime":"-2 days"}`, "2024-01-29T10:11:12Z"},
		{`{"equalToDateTime":"now","expectedOffset":-1,"expectedOffsetUnit":"years"}`, "2023-01-31T10:11:12Z"},
		{`{"equalToDateTime":"now +1 months","truncateExpected":"first day of month"}`, "2024-02-01T00:00:00Z"},
		{`{"equalToDateTime":"now +1 months","truncateExpected":"last day of month","applyTruncationLast":true}`, "2024-02-29T00:00:00Z"},
		{`{"equalToDateTime":"now +1 months","truncateExpected":"last day of month"}`, "2024-02-29T00:00:00Z"},
		{`{"equalToDateTime":"now","truncateExpected":"first minute of hour"}`, "2024-01-31T10:00:00Z"},
		{`{"equalToDateTime":"now","truncateExpected":"first second of minute","actualFormat":"dd.MM.yyyy HH:mm"}`, "31.01.2024 10:11"},
	} {
		p, err := parsePattern("", []byte(tc.condition))
		if err != nil {
			t.Fatal(err)
		}
		p.(*moment).now = func() time.Time { return now }
		if r := new(Request); !r.meets(p, present(tc.equals)) || r.meets(p, present("2024-01-31T09:00:00Z")) {
			t.Errorf("%s: is not %s", tc.condition, tc.equals)
		}
	}
}
