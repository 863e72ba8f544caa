// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package latency

import (
	"strconv"
	"strings"
	"time"
)

// String gives the text that Parse reads as the same latency.
func (l Latency) String() string {
	if l.form == nil {
		return "0"
	}
	return l.form.String()
}

// MarshalText writes the latency as text.
func (l Latency) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the latency from text.
func (l *Latency) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

func (f fixed) String() string { return durationText(time.Duration(f)) }

func (s spread) String() string {
	return nanoseconds(s.lower) + ".." + nanoseconds(s.upper)
}

func (l lognormal) String() string {
	text := "lognormal(" + nanoseconds(l.median) + "," + strconv.FormatFloat(l.sigma, 'g', -1, 64)
	if l.limit < unlimited {
		text += "," + nanoseconds(l.limit)
	}
	return text + ")"
}

func (n normal) String() string {
	return "normal(" + nanoseconds(n.mean) + "," + nanoseconds(n.deviation) + ")"
}

func nanoseconds(ns float64) string { return durationText(time.Duration(ns)) }

// durationText leaves out the zeros that Duration.String ends on: 1m, not 1m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "0"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
