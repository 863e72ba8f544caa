// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		contender{name: "vegeta", load: func(d time.Duration) (turn, error) {
			attack := fmt.Sprintf("echo GET %s | %s attack -rate 0 -max-workers 50 -connections 50 -duration %s | %s report -type json", url, vegeta, d, vegeta)
			return l.generate(vegetaReport, "sh", "-c", attack)
		}},
		contender{name: "hey", load: func(d time.Duration) (turn, error) {
			return l.generate(heyReport, "hey", "-z", d.String(), "-c", "50", url)
		}},
		contender{name: "ab -k", load: func(d time.Duration) (turn, error) {
			return l.generate(abReport, "ab", "-q", "-k", "-c", "50", "-t", seconds(d), "-n", "100000000", url)
		}},
		contender{name: "wrk", load: func(d time.Duration) (turn, error) {
			return l.generate(wrkReport, "wrk", "-t1", "-c50", "-d"+seconds(d)+"s", "--latency", url)
		}},
		contender{name: "caddy replay --max", load: func(d time.Duration) (turn, error) {
			return l.generate(replayReport, l.caddy, "replay", url, "--max", "-c", "50", "--duration", d.String(), "--report", "json", "-q")
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
		t, err := l.replay(server.url("/"), 50, "--rate", "5000/s", "--duration", l.turn.String())
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
