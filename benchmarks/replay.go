// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// vegetaModule is what load generators in Go are measured by.
const vegetaModule = "github.com/tsenart/vegeta/v12@v12.13.0"

// replayBesideGenerators measures how much load each generator brings to the
// same server over 50 connections. The CPU here is the generator's own.
func replayBesideGenerators(l *lab) error {
	target, err := l.startNginx("target", static100)
	if err != nil {
		return err
	}
	vegeta, err := l.install(vegetaModule, "vegeta")
	if err != nil {
		return err
	}
	url := target.url("/")
	return l.compare("GET of 100 B from nginx, 50 connections, as fast as possible; CPU and memory are the generator's",
		contender{"vegeta", func(d time.Duration) (turn, error) {
			attack := fmt.Sprintf("echo GET %s | %s attack -rate 0 -max-workers 50 -connections 50 -duration %s | %s report -type json", url, vegeta, d, vegeta)
			return runGenerator(vegetaReport, "sh", "-c", attack)
		}},
		contender{"hey", func(d time.Duration) (turn, error) {
			return runGenerator(heyReport, "hey", "-z", d.String(), "-c", "50", url)
		}},
		contender{"ab -k", func(d time.Duration) (turn, error) {
			return runGenerator(abReport, "ab", "-q", "-k", "-c", "50", "-n", "100000000", "-t", seconds(d), url)
		}},
		contender{"wrk", func(d time.Duration) (turn, error) {
			return runGenerator(wrkReport, "wrk", "-t1", "-c50", "-d"+seconds(d)+"s", "--latency", url)
		}},
		contender{"caddy replay --max", func(d time.Duration) (turn, error) {
			return runGenerator(replayReport, l.caddy, "replay", url, "--max", "-c", "50", "--duration", d.String(), "--report", "json", "-q")
		}},
	)
}

// replayOnTime measures how exactly the schedule of an open loop is kept.
func replayOnTime(l *lab) error {
	server, err := l.startNginx("target", static100)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\n5,000 requests/s to nginx over 50 connections: how late each was sent\n\n")
	fmt.Fprintln(l.out, "| round | sent | p50 | p99 | p99.9 | max |")
	fmt.Fprintln(l.out, "|--:|--:|--:|--:|--:|--:|")
	for round := range l.rounds {
		t, err := l.replay(server.url("/"), 50, "--rate", "5000/s")
		if err != nil {
			return err
		}
		late := t.Lateness
		fmt.Fprintf(l.out, "| %d | %d | %.2f ms | %.2f ms | %.2f ms | %.2f ms |\n", round+1, t.Requests, late.P50, late.P99, late.P999, late.Max)
	}
	return nil
}

// install builds a command from the Go module proxy.
func (l *lab) install(module, name string) (string, error) {
	install := exec.Command("go", "install", module)
	install.Env = append(os.Environ(), "GOBIN="+l.dir)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("installing %s: %v\n%s", module, err, out)
	}
	return filepath.Join(l.dir, name), nil
}

// runGenerator runs a load generator and reads its report.
func runGenerator(read func(string) (turn, error), command ...string) (turn, error) {
	var out strings.Builder
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return turn{}, fmt.Errorf("running %s: %v", command[0], err)
	}
	t, err := read(out.String())
	if err != nil || t.requests == 0 {
		return t, fmt.Errorf("%s reports no requests: %v\n%s", command[0], err, out.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / float64(t.requests)
	t.memory = usage.Maxrss << 10
	return t, nil
}

func output(command ...string) (string, error) {
	out, err := exec.Command(command[0], command[1:]...).Output()
	return string(out), err
}

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
	Targets []target
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
