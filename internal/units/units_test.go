// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "512": 512, "64KiB": 64 << 10, "1MiB": 1 << 20, "1.5MiB": 3 << 19, "64KB": 64000, "1mb": 1e6, "50GiB": 50 << 30,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q): got %d, error %v; want %d", text, got, err, want)
		}
		again, err := ParseSize(got.String())
		if err != nil || again != got {
			t.Errorf("%q is written as %q, which reads as %d, error %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "kb", "-1", "1 potato", "99999999999GiB", "9EiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q): got %d, want an error", text, got)
		}
	}
}

func TestSizeInJSON(t *testing.T) {
	for text, want := range map[string]Size{`"1MiB"`: 1 << 20, `4096`: 4096, `"4096"`: 4096} {
		var got Size
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %d, error %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`-1`, `1.5`, `true`, `"lots"`} {
		var got Size
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s: got %d, want an error", text, got)
		}
	}
	if out, err := json.Marshal(Size(256 << 20)); err != nil || string(out) != `"256MiB"` {
		t.Errorf("got %s, error %v", out, err)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]Percent{"0": 0, "12.5": 12.5, "25%": 25, "100": 100} {
		if got, err := ParsePercent(text); err != nil || got != want {
			t.Errorf("ParsePercent(%q): got %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "-1", "101", "100.01", "NaN", "Inf", "ten"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("ParsePercent(%q): got %v, want an error", text, got)
		}
	}
	var fromJSON struct{ A, B *Percent }
	if err := json.Unmarshal([]byte(`{"A": 0, "B": "12.5%"}`), &fromJSON); err != nil || *fromJSON.A != 0 || *fromJSON.B != 12.5 {
		t.Errorf("got %+v, error %v", fromJSON, err)
	}
	if err := json.Unmarshal([]byte(`{"A": 101}`), &fromJSON); err == nil {
		t.Error("101 was accepted")
	}
	if out, err := json.Marshal(Percent(12.5)); err != nil || string(out) != "12.5" {
		t.Errorf("got %s, error %v", out, err)
	}
}

func TestPercentTakesItsShare(t *testing.T) {
	share := func(p Percent) *Percent { return &p }
	for _, tc := range []struct {
		percent *Percent
		u       uint64
		want    bool
	}{
		{nil, math.MaxUint64, true},
		{share(100), math.MaxUint64, true},
		{share(0), 0, false},
		{share(25), 1<<62 - 1, true},
		{share(25), 1 << 62, false},
		{share(50), 1<<63 - 1, true},
		{share(50), 1 << 63, false},
	} {
		if got := tc.percent.Takes(tc.u); got != tc.want {
			t.Errorf("%v takes %#x: got %v", tc.percent, tc.u, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "500ms": 500 * time.Millisecond, "1m30s": 90 * time.Second, "7d": 7 * day, "1d12h": 36 * time.Hour,
		"0.5d": 12 * time.Hour, ".5d": 12 * time.Hour, "-1d": -day, "1h2d": 49 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q): got %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "d", "soon", "1 s", "1dd", "1.2.3d", "999999999d", strings.Repeat("9", 200) + "d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q): got %v, want an error", text, got)
		}
	}
}

func TestErrorsListTheUnits(t *testing.T) {
	_, err := ParseSize("64 potatoes")
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB", "KB", "TB"} {
		if err == nil || !strings.Contains(err.Error(), unit) {
			t.Errorf("got error %v, want one that names %s", err, unit)
		}
	}
}

func TestBinarySize(t *testing.T) {
	for text, want := range map[string]BinarySize{
		"0b": 0, "16b": 16, "1kb": 1024, "428KB": 428 << 10, "2Mb": 2 << 20, "64KiB": 64 << 10, "1gb": 1 << 30,
	} {
		got, err := ParseBinarySize(text)
		if err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
		if again, err := ParseBinarySize(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s, which is %d, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "b", "kb", "5", "-5kb", "+5kb", "1.5kb", "5 kb", "5tb", "65gb", "99999999999999999999b", "9223372036854775807kb"} {
		if size, err := ParseBinarySize(text); err == nil {
			t.Errorf("%q was read as %d", text, size)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"1MiB", "0", "1.5kb", "-1", "9EiB", "1e400"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := ParseSize(text)
		if err != nil {
			return
		}
		if size < 0 {
			t.Fatalf("%q reads as %d", text, size)
		}
		again, err := ParseSize(size.String())
		if err != nil || again != size {
			t.Fatalf("%q reads as %d, written %q reads as %d, error %v", text, size, size.String(), again, err)
		}
	})
}
