// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"math"
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

// Latency is a distribution of times. Its figures are 0 where there are none.
type Latency struct {
	Count     int64   `json:"count"`
	MeanMS    float64 `json:"mean_ms"`
	P50MS     float64 `json:"p50_ms"`
	P90MS     float64 `json:"p90_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
	P999MS    float64 `json:"p99_9_ms"`
	MaxMS     float64 `json:"max_ms"`
	Histogram string  `json:"histogram"` // HdrHistogram V2, compressed, base64, in nanoseconds

	measured *Histogram
}

func newLatency(h *Histogram) (Latency, error) {
	encoded, err := h.Encode()
	return Latency{
		Count: h.Count(), MeanMS: ms(h.Mean()), P50MS: ms(h.At(50)), P90MS: ms(h.At(90)), P95MS: ms(h.At(95)),
		P99MS: ms(h.At(99)), P999MS: ms(h.At(99.9)), MaxMS: ms(h.Max()), Histogram: encoded, measured: h,
	}, err
}

// UnmarshalJSON reads the figures and the histogram behind them.
func (l *Latency) UnmarshalJSON(data []byte) error {
	type figures Latency
	if err := json.Unmarshal(data, (*figures)(l)); err != nil {
		return err
	}
	var err error
	l.measured, err = decodeHistogram(l.Histogram, time.Duration(math.Round(l.MaxMS*1000))*time.Microsecond)
	return err
}

// At returns the time that the given percentage of the times don't exceed, or 0
// if there are none.
func (l *Latency) At(percent float64) time.Duration {
	if l.Count == 0 {
		return 0
	}
	return l.measured.At(percent)
}

// Max returns the longest of the times, or 0 if there are none.
func (l *Latency) Max() time.Duration {
	if l.Count == 0 {
		return 0
	}
	return l.measured.Max()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
