// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// table returns what was measured as text, with a column for each way.
func table(columns []column) string {
	var text strings.Builder
	row := func(name string, cell func(column) string) {
		line := fmt.Appendf(nil, "%-25s", name)
		for _, c := range columns {
			line = fmt.Appendf(line, "%12s", cell(c))
		}
		text.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	heading := func(column) string { return "" }
	row("", func(c column) string { return c.name })
	row("requests", func(c column) string { return strconv.FormatInt(c.speed.Requests, 10) })
	row("failed", func(c column) string { return strconv.FormatInt(c.speed.failed(), 10) })
	row("answers a second", func(c column) string { return fmt.Sprintf("%.1f", c.speed.AnswerRate) })
	row("latency, mean", func(c column) string { return ms(c.speed.Latency.MeanMS) })
	row("  p50", func(c column) string { return ms(c.speed.Latency.P50MS) })
	row("  p99", func(c column) string { return ms(c.speed.Latency.P99MS) })
	row("  max", func(c column) string { return ms(c.speed.Latency.MaxMS) })
	row("a server is added", heading)
	row("  its first request after", func(c column) string { return c.added.first() })
	row("  failed", func(c column) string { return c.added.failures() })
	row("a server is taken away", heading)
	row("  its last request after", func(c column) string { return c.takenAway.last() })
	row("  failed", func(c column) string { return c.takenAway.failures() })
	return text.String()
}

func ms(value float64) string { return fmt.Sprintf("%.2f ms", value) }

// first returns how long after the change the server had its first request.
func (m *movement) first() string {
	if m == nil {
		return "-"
	}
	if len(m.traces) == 0 {
		return "none"
	}
	return since(m.told, m.traces[0])
}

// last returns how long after the change the server had its last request.
func (m *movement) last() string {
	if m == nil {
		return "-"
	}
	if len(m.traces) == 0 {
		return "none"
	}
	return since(m.told, m.traces[len(m.traces)-1])
}

func since(told, at time.Time) string { return ms(max(0, at.Sub(told).Seconds()*1000)) }

// failures returns how many requests of how many failed while the servers changed.
func (m *movement) failures() string {
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", m.result.failed(), m.result.Requests)
}
