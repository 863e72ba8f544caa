// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// mergeTimelines adds up timelines by the seconds of the clock: each begins as
// much later as its shard has started.
func mergeTimelines(parts []targetPart) (seconds int64, moments []Moment, err error) {
	sum := new(timeline)
	for _, p := range parts {
		if p.TimelineSeconds > sum.seconds() {
			sum.shift = uint(bits.Len64(uint64(p.TimelineSeconds)) - 1)
		}
	}
	for _, p := range parts {
		later := int64(p.later.Round(time.Second) / time.Second)
		for i := range p.Timeline {
			m := &p.Timeline[i]
			if m.Second < 0 || m.Second > int64(longestTimeline/time.Second) {
				return 0, nil, fmt.Errorf("the timeline has a second %d", m.Second)
			}
			mark, err := m.mark()
			if err != nil {
				return 0, nil, fmt.Errorf("second %d of the timeline: %v", m.Second, err)
			}
			sum.at(time.Duration(later+m.Second) * time.Second).merge(mark)
		}
	}
	return sum.seconds(), sum.moments(), nil
}

// longestTimeline is longer than any run.
const longestTimeline = 100 * 365 * 24 * time.Hour

// mark returns the counts of a moment that was read.
func (m *Moment) mark() (*mark, error) {
	k := &mark{
		due: m.Due, sent: m.Sent, ok: m.OK, errors: m.Errors,
		late: m.Late, lateBusy: m.LateBusy, lateWaiting: m.LateWaiting, unlinked: m.Unlinked,
		latency: m.latency, max: asTime(m.MaxMS),
	}
	for hundred := range k.status {
		k.status[hundred] = m.StatusClasses[strconv.Itoa(hundred)+"xx"]
	}
	if k.latency == nil && m.Histogram != "" {
		var err error
		if k.latency, err = hdrhistogram.DecodePacked([]byte(m.Histogram)); err != nil {
			return nil, fmt.Errorf("histogram is not valid: %v", err)
		}
	}
	return k, nil
}
