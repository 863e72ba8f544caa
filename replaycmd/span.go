// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// span is what many records are together.
type span struct {
	records     int64
	bodies      uint64
	truncated   int64
	first, last int64 // times
	methods     map[string]int64
}

func (s *span) add(r *recording.Request) {
	s.records++
	s.bodies += uint64(len(r.Body))
	if r.Truncated() {
		s.truncated++
	}
	if s.methods == nil {
		s.methods = make(map[string]int64)
	}
	s.methods[string(r.Method)]++
	if r.TimeNS == 0 {
		return
	}
	if s.first == 0 || r.TimeNS < s.first {
		s.first = r.TimeNS
	}
	s.last = max(s.last, r.TimeNS)
}

// String says how many records there are and from when.
func (s *span) String() string {
	text := fmt.Sprintf("%d records", s.records)
	if s.records == 1 {
		text = "1 record"
	}
	if s.first != 0 {
		text += fmt.Sprintf(" from %s to %s", timeText(s.first), timeText(s.last))
	}
	return text
}

// timeText writes a recorded time, to the millisecond.
func timeText(ns int64) string {
	if ns == 0 {
		return "-"
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
