// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	finest  = time.Microsecond
	longest = 24 * time.Hour
)

// Histogram counts durations. Its memory doesn't depend on how many there are.
// The resolution is half a microsecond; what is above a day counts as a day.
type Histogram struct{ hdr *hdrhistogram.Histogram }

// NewHistogram gives an empty histogram whose values are right to a number of
// significant digits.
func NewHistogram(digits int) Histogram {
	return Histogram{hdrhistogram.New(int64(finest), int64(longest), digits)}
}

// Add counts one duration. One below zero counts as zero.
func (h Histogram) Add(d time.Duration) {
	h.hdr.RecordValue(int64(min(max(d, 0), longest))) //nolint:errcheck // the value is within range
}

// Count is how many durations were counted.
func (h Histogram) Count() int64 { return h.hdr.TotalCount() }

// Max is the longest duration, 0 of none.
func (h Histogram) Max() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return min(time.Duration(h.hdr.Max()), longest)
}

// Mean is the average duration, 0 of none.
func (h Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Mean())
}

// At gives the duration that the given percentage of the durations don't
// exceed, 0 of none.
func (h Histogram) At(percent float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return min(time.Duration(h.hdr.ValueAtPercentile(percent)), h.Max())
}

// Encode gives the histogram in HdrHistogram's own compressed form (V2,
// base64), with values in nanoseconds.
func (h Histogram) Encode() (string, error) {
	encoded, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(encoded), err
}
