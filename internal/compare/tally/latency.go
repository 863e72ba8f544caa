// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package tally

import (
	"encoding/json"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latency counts the durations of both sides of each pair, and by how much new
// was slower or faster.
type latency struct {
	Old    histogram `json:"old"`
	New    histogram `json:"new"`
	Slower histogram `json:"slower"`
	Faster histogram `json:"faster"`
}

// histogram is right to 3 digits from a microsecond to an hour, written in
// HdrHistogram's own compressed form.
type histogram struct{ *hdrhistogram.Histogram }

func newHistogram() histogram {
	return histogram{hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)}
}

func newLatency() latency {
	return latency{newHistogram(), newHistogram(), newHistogram(), newHistogram()}
}

func (h histogram) add(d time.Duration) {
	h.RecordValue(min(max(0, d.Microseconds()), int64(time.Hour/time.Microsecond))) //nolint:errcheck // it is within range
}

// MarshalJSON writes the compressed form as text.
func (h histogram) MarshalJSON() ([]byte, error) {
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(encoded))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (h *histogram) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return err
	}
	*h = newHistogram()
	h.Merge(decoded)
	return nil
}

func (l *latency) add(old, new time.Duration) {
	if old <= 0 || new <= 0 {
		return
	}
	l.Old.add(old)
	l.New.add(new)
	if new >= old {
		l.Slower.add(new - old)
	} else {
		l.Faster.add(old - new)
	}
}

func (l *latency) merge(o *latency) {
	l.Old.Merge(o.Old.Histogram)
	l.New.Merge(o.New.Histogram)
	l.Slower.Merge(o.Slower.Histogram)
	l.Faster.Merge(o.Faster.Histogram)
}

// rank returns the k-th smallest of the durations, counted from 1.
func (h histogram) rank(k int64) time.Duration {
	n := h.TotalCount()
	if n == 0 {
		return 0
	}
	return time.Duration(h.ValueAtPercentile(100*(float64(min(max(k, 1), n))-0.5)/float64(n))) * time.Microsecond
}

// difference returns the k-th smallest of new−old.
func (l *latency) difference(k int64) time.Duration {
	if faster := l.Faster.TotalCount(); k <= faster {
		return -l.Faster.rank(faster - k + 1)
	}
	return l.Slower.rank(k - l.Faster.TotalCount())
}

// Shift is by how much new is slower than old in the middle of the pairs.
type Shift struct {
	Pairs  int64         `json:"pairs"`
	Median time.Duration `json:"median_ns"`
	Low    time.Duration `json:"low_ns"` // of the median's 95 % interval
	High   time.Duration `json:"high_ns"`
}

func (l *latency) shift() Shift {
	n := l.Faster.TotalCount() + l.Slower.TotalCount()
	if n == 0 {
		return Shift{}
	}
	low, high := ranks(n, 0.5)
	return Shift{n, l.difference((n + 1) / 2), l.difference(max(1, low)), l.difference(min(n, high))}
}

// leastBeyond is how many durations must lie beyond a percentile for it to be
// known: 400 pairs for the 99th.
const leastBeyond = 4

// Bounds returns the lower 95 % bound of a percentile of new's durations, and
// the upper one of old's; ok is false below 400 pairs for the 99th, and
// accordingly for others: it is unknown then. `p99<1.1x old` fails where the
// first exceeds 1.1 × the second.
func (t *Tally) Bounds(percentile float64) (newLow, oldHigh time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.state.Latency
	low, high, ok := Interval(l.Old.TotalCount(), percentile)
	if !ok {
		return 0, 0, false
	}
	return l.New.rank(low), l.Old.rank(high), true
}

// Interval returns which of n values in ascending order, counted from 1, are the
// bounds of the 95 % interval of a percentile; ok is false where they are too few
// for it.
func Interval(n int64, percentile float64) (low, high int64, ok bool) {
	p := percentile / 100
	if float64(n)*(1-p) < leastBeyond-1e-9 || float64(n)*p < leastBeyond {
		return 0, 0, false
	}
	low, high = ranks(n, p)
	return low, high, true
}

// Spread is a percentile of durations and its 95 % interval.
type Spread struct {
	At, Low, High time.Duration
	Known         bool // there are enough durations for an interval
}

// Spreads returns a percentile of old's durations and of new's, of all pairs.
func (t *Tally) Spreads(percentile float64) (old, new Spread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.Latency.Old.spread(percentile), t.state.Latency.New.spread(percentile)
}

func (h histogram) spread(percentile float64) Spread {
	if h.TotalCount() == 0 {
		return Spread{}
	}
	s := Spread{At: time.Duration(h.ValueAtPercentile(percentile)) * time.Microsecond}
	low, high, ok := Interval(h.TotalCount(), percentile)
	s.Low, s.High, s.Known = h.rank(low), h.rank(high), ok
	return s
}
