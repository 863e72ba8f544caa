// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

func vegetaReport(out string) (turn, error) {
	var report struct {
		Latencies struct {
			P50 time.Duration `json:"50th"`
			P99 time.Duration `json:"99th"`
		}
		Requests   int64
		Throughput float64
		Success    float64
	}
	err := json.Unmarshal([]byte(out), &report)
	failed := int64(float64(report.Requests) * (1 - report.Success))
	return turn{requests: report.Requests, rate: report.Throughput, p50: report.Latencies.P50, p99: report.Latencies.P99, errors: failed}, err
}

var (
	heyRate  = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	heyTotal = regexp.MustCompile(`\[200\]\s+(\d+) responses`)
	heyP50   = regexp.MustCompile(`50% in ([\d.]+) secs`)
	heyP99   = regexp.MustCompile(`99% in ([\d.]+) secs`)
	abRate   = regexp.MustCompile(`Requests per second:\s+([\d.]+)`)
	abTotal  = regexp.MustCompile(`Complete requests:\s+(\d+)`)
	abFailed = regexp.MustCompile(`Failed requests:\s+(\d+)`)
	abP50    = regexp.MustCompile(`(?m)^\s+50%\s+(\d+)`)
	abP99    = regexp.MustCompile(`(?m)^\s+99%\s+(\d+)`)
)

func heyReport(out string) (turn, error) {
	return turn{
		requests: int64(number(heyTotal, out)), rate: number(heyRate, out),
		p50: time.Duration(number(heyP50, out) * float64(time.Second)),
		p99: time.Duration(number(heyP99, out) * float64(time.Second)),
	}, nil
}

func abReport(out string) (turn, error) {
	return turn{
		requests: int64(number(abTotal, out)), rate: number(abRate, out), errors: int64(number(abFailed, out)),
		p50: time.Duration(number(abP50, out)) * time.Millisecond,
		p99: time.Duration(number(abP99, out)) * time.Millisecond,
	}, nil
}

func wrkReport(out string) (turn, error) { return parseWrk(out), nil }

// replayed is the part of replay's JSON report that is looked at here.
type replayed struct {
	Targets     []target
	Comparisons []struct {
		Pairs   int64
		Partial map[string]int64
	}
}

// target is what a replay reports of one target.
type target struct {
	Requests, Errors           int64
	Rate                       float64
	Latency, Service, Lateness struct {
		P50  float64 `json:"p50_ms"`
		P99  float64 `json:"p99_ms"`
		P999 float64 `json:"p99_9_ms"`
		Max  float64 `json:"max_ms"`
	}
}

func decodeReplay(out string) (report replayed, err error) {
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		return report, fmt.Errorf("reading the report of caddy replay: %v", err)
	}
	if len(report.Targets) == 0 {
		return report, fmt.Errorf("the report of caddy replay has no target:\n%s", out)
	}
	return report, nil
}

func replayReport(out string) (turn, error) {
	report, err := decodeReplay(out)
	if err != nil {
		return turn{}, err
	}
	t := report.Targets[0]
	return turn{requests: t.Requests, rate: t.Rate, errors: t.Errors, p50: milliseconds(t.Service.P50), p99: milliseconds(t.Service.P99)}, nil
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
