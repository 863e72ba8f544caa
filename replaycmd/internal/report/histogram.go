// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	finest  = time.Microsecond
	longest = 24 * time.Hour
)

// Histogram counts durations. Its memory doesn't depend on how many there are.
// The resolution is half a microsecond; what is above a day counts as a day.
type Histogram struct {
	hdr *hdrhistogram.Histogram
	max time.Duration // exact, which the histogram's is not
}

// NewHistogram returns an empty histogram whose values are right to a number of
// significant digits.
func NewHistogram(digits int) *Histogram {
	return &Histogram{hdr: hdrhistogram.New(int64(finest), int64(longest), digits)}
}

// Add counts one duration. One below zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = min(max(d, 0), longest)
	h.max = max(h.max, d)
	h.hdr.RecordValue(int64(d)) //nolint:errcheck // the value is within range
}

// Count returns how many durations were counted.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Max returns the longest duration, exactly, or 0 if there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean returns the average duration, or 0 if there is none.
func (h *Histogram) Mean() time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return time.Duration(h.hdr.Mean())
}

// At returns the duration that the given percentage of the durations don't
// exceed, or 0 if there is none.
func (h *Histogram) At(percent float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return min(time.Duration(h.hdr.ValueAtPercentile(percent)), h.max)
}

// Encode returns the histogram in HdrHistogram's own compressed form (V2,
// base64), with values in nanoseconds.
func (h *Histogram) Encode() (string, error) {
	encoded, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(encoded), err
}

// decodeHistogram reads what Encode has written. The longest duration is not in
// it.
func decodeHistogram(text string, longest time.Duration) (*Histogram, error) {
	hdr, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("histogram is not valid: %v", err)
	}
	return &Histogram{hdr: hdr, max: longest}, nil
}
