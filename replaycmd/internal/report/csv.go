// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
)

// CSV writes a line for every second of a run and each of its targets, as soon
// as the second is over.
type CSV struct {
	mu      sync.Mutex
	w       *csv.Writer
	targets []string // their names
}

var columns = []string{
	"second", "target", "requests", "errors", "1xx", "2xx", "3xx", "4xx", "5xx", "late",
	"bytes_sent", "bytes_received", "p50_ms", "p90_ms", "p99_ms", "max_ms",
}

// NewCSV begins with the names of the columns.
func NewCSV(w io.Writer, targets []string) *CSV {
	c := &CSV{w: csv.NewWriter(w), targets: targets}
	c.write(columns...)
	return c
}

// Row writes one second of the target with the given number.
func (c *CSV) Row(target int, row measure.Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fields := append(make([]string, 0, len(columns)), strconv.Itoa(row.Second), c.targets[target])
	for _, n := range []int64{
		row.Requests, row.Errors, row.Status[1], row.Status[2], row.Status[3], row.Status[4], row.Status[5],
		row.Late, row.Sent, row.Received,
	} {
		fields = append(fields, strconv.FormatInt(n, 10))
	}
	for _, d := range []time.Duration{row.Latency.At(50), row.Latency.At(90), row.Latency.At(99), row.Latency.Max()} {
		fields = append(fields, strconv.FormatFloat(ms(d), 'f', 3, 64))
	}
	c.write(fields...)
}

func (c *CSV) write(fields ...string) {
	c.w.Write(fields) //nolint:errcheck // Err has it
	c.w.Flush()
}

// Err gives the first error of writing.
func (c *CSV) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.Error()
}
