// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"testing"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{
		"500": 500, "500/s": 500, "90/m": 1.5, "3/10s": 0.3, "0.5/s": 0.5, "36/h": 0.01, "1/100ms": 10,
	} {
		got, err := ParseRate(text)
		if err != nil || math.Abs(float64(got)-want) > 1e-9 {
			t.Errorf("%q: got %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-5", "0/s", "-5/s", "infinity", "Inf/s", "NaN", "10/0s", "10/", "10/x", "/s", "5/-1s", "1e300", "x"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestParseSpeed(t *testing.T) {
	for text, want := range map[string]Speed{"2x": 2, "2": 2, "0.5x": 0.5} {
		if got, err := ParseSpeed(text); err != nil || got != want {
			t.Errorf("%q: got %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "0", "0x", "-1x", "infx", "nan", "2xx"} {
		if got, err := ParseSpeed(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestTextOfRateAndSpeedIsReadBack(t *testing.T) {
	var rate Rate
	if err := rate.Set("90/m"); err != nil || rate.String() != "1.5/s" {
		t.Errorf("got %v, error %v", rate, err)
	}
	var speed Speed
	if err := speed.Set("0.25"); err != nil || speed.String() != "0.25x" {
		t.Errorf("got %v, error %v", speed, err)
	}
	if Rate(0).String() != "" || Speed(0).String() != "" {
		t.Error("nothing given has a text")
	}
}

func FuzzParseRate(f *testing.F) {
	for _, text := range []string{"500/s", "3/10s", "10/0s", "infinity", "1e9", "/", "1/1h1m"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := ParseRate(text)
		if err == nil && !(rate > 0 && rate <= 1e9) {
			t.Errorf("%q was read as %v", text, float64(rate))
		}
	})
}
