// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"0", "0"},
		{"0s", "0"},
		{"50ms", "50ms"},
		{" 1s ", "1s"},
		{"90s", "1m30s"},
		{"60m", "1h"},
		{"70m", "1h10m"},
		{"1h30s", "1h0m30s"},
		{"1.5ms", "1.5ms"},
		{"100ms..200ms", "100ms..200ms"},
		{"0..20ms", "0..20ms"},
		{"100ms .. 200ms", "100ms..200ms"},
		{"50ms..50ms", "50ms"},
		{"0..0", "0"},
		{"lognormal(70ms,0.3)", "lognormal(70ms,0.3)"},
		{"lognormal(70ms, 0.3, 2s)", "lognormal(70ms,0.3,2s)"},
		{"lognormal(70ms,0)", "70ms"},
		{"normal(80ms,10ms)", "normal(80ms,10ms)"},
		{"normal(80ms,0)", "80ms"},
		{"p50=20ms,p90=80ms,p99=300ms", "p50=20ms,p90=80ms,p99=300ms"},
		{"p0=1ms, p50=20ms, p99.9=80ms, p100=1s", "p0=1ms,p50=20ms,p99.9=80ms,p100=1s"},
		{"p50=20ms,p90=20ms", "p50=20ms,p90=20ms"},
	} {
		l, err := Parse(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := l.String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.text, got, tc.want)
		}
		if l.IsZero() != (tc.want == "0") {
			t.Errorf("%s: zero is %v", tc.text, l.IsZero())
		}
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "not a duration"},
		{"fast", "'fast' is not a duration"},
		{"500", "with a unit"},
		{"-5ms", "negative"},
		{"100ms..50ms", "lower 100ms is above upper 50ms"},
		{"-10ms..10ms", "lower -10ms is negative"},
		{"10..20ms", "lower '10' is not a duration"},
		{"10ms..", "upper '' is not a duration"},
		{"10ms..20ms..30ms", "upper '20ms..30ms'"},
		{"lognormal(70ms)", "takes a median, a sigma"},
		{"lognormal(70ms,0.3,1s,2s)", "takes a median, a sigma"},
		{"lognormal(70ms,0.3", "parenthesis"},
		{"lognormal(70,0.3)", "median '70'"},
		{"lognormal(0,0.3)", "median 0s is not above 0"},
		{"lognormal(70ms,wide)", "sigma 'wide'"},
		{"lognormal(70ms,-0.3)", "sigma -0.3 is negative"},
		{"lognormal(70ms,NaN)", "sigma NaN"},
		{"lognormal(70ms,Inf)", "sigma +Inf"},
		{"lognormal(70ms,0.3,50ms)", "median 70ms is above the cap 50ms"},
		{"lognormal(70ms,0.3,0)", "cap is 0"},
		{"lognormal(70ms,0.3,-1s)", "cap -1s is negative"},
		{"normal(80ms)", "takes a mean and a standard deviation"},
		{"normal(-80ms,1ms)", "mean -80ms is negative"},
		{"normal(80ms,-1ms)", "standard deviation -1ms is negative"},
		{"normal(0,1ms)", "mean is 0"},
		{"gamma(1,2)", "no form 'gamma'"},
		{"p50=20ms", "at least two"},
		{"p0=1ms,p50=20ms,p100=1s", "at least two"},
		{"p90=80ms,p50=20ms", "p50=20ms comes after p90=80ms"},
		{"p50=20ms,p50=30ms", "percentages have to rise"},
		{"p50=80ms,p90=20ms", "p90=20ms is less than p50=80ms"},
		{"p50=0,p90=20ms", "p50=0 is not above 0"},
		{"p50=20ms,p101=1s", "'p101=1s' is not a percentile"},
		{"p50=20ms,90=1s", "'90=1s' is not a percentile"},
		{"p50=20ms,p90=fast", "p90 'fast' is not a duration"},
		{"p50=20ms,p90", "p90 '' is not a duration"},
	} {
		_, err := Parse(tc.text)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", tc.text, err, tc.want)
		}
	}
}

func TestFixedIsNeverNegative(t *testing.T) {
	if l := Fixed(-time.Second); !l.IsZero() || l.Sample(Random()) != 0 {
		t.Errorf("a negative time became %s", l)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"0", "50ms", "100ms..200ms", "lognormal(70ms,0.3)", "lognormal(70ms,0.3,2s)",
		"normal(80ms,10ms)", "p50=20ms,p90=80ms,p99=300ms", "p0=0,p1=1ns,p99.99=1h,p100=2h",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil {
			t.Fatalf("%q became %q, which is refused: %v", text, l, err)
		}
		if again.String() != l.String() {
			t.Fatalf("%q became %q, which became %q", text, l, again)
		}
		if d := l.Sample(Seeded(1)); d < 0 {
			t.Fatalf("%q gave %s", text, d)
		}
	})
}
