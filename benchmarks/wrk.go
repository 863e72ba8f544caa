// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// turn is what one run of a load generator came to. Processor time and memory
// are those of the process that is measured: a server, or a generator itself.
type turn struct {
	requests int64
	rate     float64 // requests a second
	cpu      float64 // in µs a request
	p50, p99 time.Duration
	errors   int64
	memory   int64 // in bytes: of a server after the turn, of a generator at most
}

// wrk is a closed-loop load: as fast as the connections allow.
type wrk struct {
	connections int
	script      string // a Lua file, or none
}

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkRate     = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkP50      = regexp.MustCompile(`50%\s+([\d.]+\w+)`)
	wrkP99      = regexp.MustCompile(`99%\s+([\d.]+\w+)`)
	wrkSocket   = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus   = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

// run loads one URL of the server for a time.
func (w wrk) run(l *lab, s *server, url string, length time.Duration) (turn, error) {
	args := []string{"-t1", fmt.Sprintf("-c%d", w.connections), "-d" + seconds(length) + "s", "--latency"}
	if w.script != "" {
		args = append(args, "-s", w.script)
	}
	before := s.cpu()
	command := l.on(clientHalf, append(append([]string{"wrk"}, args...), url)...)
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	used := s.cpu() - before
	if err != nil {
		return turn{}, fmt.Errorf("running wrk: %v\n%s", err, out)
	}
	t := parseWrk(string(out))
	if t.requests == 0 {
		return t, fmt.Errorf("wrk got no answer from %s:\n%s\n%s", s.name, out, s.logs.String())
	}
	t.cpu = float64(used.Microseconds()) / float64(t.requests)
	t.memory = s.memory()
	return t, nil
}

// parseWrk reads what wrk prints.
func parseWrk(text string) turn {
	t := turn{
		requests: int64(number(wrkRequests, text)),
		rate:     number(wrkRate, text),
		p50:      latency(wrkP50, text),
		p99:      latency(wrkP99, text),
		errors:   int64(number(wrkStatus, text)),
	}
	for _, n := range wrkSocket.FindStringSubmatch(text) {
		count, _ := strconv.ParseInt(n, 10, 64)
		t.errors += count
	}
	return t
}

func number(pattern *regexp.Regexp, text string) float64 {
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(match[1], 64)
	return n
}

func latency(pattern *regexp.Regexp, text string) time.Duration {
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	d, _ := time.ParseDuration(strings.Replace(match[1], "us", "µs", 1))
	return d
}

// seconds writes a time for generators that know whole seconds only.
func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(d.Seconds()+0.5))) }
