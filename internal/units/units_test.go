// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package units

import (
	"encoding/json"
	"testing"
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
