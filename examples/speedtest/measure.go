// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// column is what was measured of a way.
type column struct {
	name             string
	speed            result
	added, takenAway *movement // nil for direct, which has no registry
}

// result is what caddy replay reports of a way.
type result struct {
	Name       string
	Requests   int64
	AnswerRate float64          `json:"answer_rate"`
	Status     map[string]int64 // answers by their status
	Latency    struct {
		MeanMS float64 `json:"mean_ms"`
		P50MS  float64 `json:"p50_ms"`
		P99MS  float64 `json:"p99_ms"`
		MaxMS  float64 `json:"max_ms"`
	}
}

// failed returns how many requests were not answered with 200.
func (r result) failed() int64 { return r.Requests - r.Status["200"] }

// movement is how a way followed a change of the servers.
type movement struct {
	result result
	told   time.Time // when the change was made where the way looks for servers
	traces []time.Time
}

// The load in each way while servers change.
const (
	changeRate = "200/s"
	before     = 2 * time.Second // the change
	during     = 8 * time.Second // in all
	lastOrders = 2 * time.Second // a server goes on for so long after its registry has forgotten it
)

// measure sends as args say, then adds a server and takes one away under load.
func (l *lab) measure(args []string) ([]column, error) {
	speed, err := l.replay("speed", ways, args...)
	if err != nil {
		return nil, err
	}
	if err := l.startServer("4"); err != nil {
		return nil, err
	}
	added, err := l.change("added", "4", serverAddrs("1", "2", "3", "4"), func() {})
	if err != nil {
		return nil, err
	}
	takenAway, err := l.change("taken-away", "3", serverAddrs("1", "2", "4"), func() {
		time.Sleep(lastOrders)
		l.stop("server-3")
	})
	if err != nil {
		return nil, err
	}
	var columns []column
	for _, w := range ways {
		columns = append(columns, column{w.name, speed[w.name], added[w.name], takenAway[w.name]})
	}
	return columns, nil
}

// change makes the servers those of each way that has a registry, under load, and
// returns by the names of the ways what became of it. A request's path names the
// change and the way, so that the log of the server that comes or goes says when
// it had which.
func (l *lab) change(name, server string, servers []string, then func()) (map[string]*movement, error) {
	moving := ways[1:]
	errs := make([]error, len(moving)+1)
	var results map[string]result
	var wait sync.WaitGroup
	wait.Go(func() {
		results, errs[len(moving)] = l.replay(name, moving, "--rate", changeRate, "--duration", during.String())
	})
	time.Sleep(before)
	movements := make(map[string]*movement)
	for i, w := range moving {
		m := new(movement)
		movements[w.name] = m
		wait.Go(func() {
			m.told = time.Now()
			if err := w.register(l, servers); err != nil {
				errs[i] = fmt.Errorf("%s: %w", w.name, err)
			}
		})
	}
	then()
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, w := range moving {
		m := movements[w.name]
		m.result = results[w.name]
		m.traces = l.traces("server-"+server, "/"+name+"/"+w.name+"/")
	}
	return movements, nil
}

// traces returns when a server had requests below a path.
func (l *lab) traces(server, path string) (at []time.Time) {
	log, _ := os.ReadFile(l.file(server + ".log"))
	for line := range bytes.Lines(log) {
		var entry struct {
			TS      float64
			Request struct{ URI string }
		}
		if json.Unmarshal(line, &entry) == nil && strings.HasPrefix(entry.Request.URI, "/change"+path) {
			at = append(at, time.UnixMicro(int64(entry.TS*1e6)))
		}
	}
	return at
}

// replay sends to the ways, and returns the results by their names. But for the
// measurement of speed, paths name what is measured and the way.
func (l *lab) replay(name string, to []way, args ...string) (map[string]result, error) {
	file := l.file(name + ".json")
	args = append([]string{"replay", "http://" + ways[0].addr + "/", "-q", "--report", "json=" + file}, args...)
	for _, w := range to {
		base := w.name + "=http://" + w.addr
		if name != "speed" {
			base += "/change/" + name + "/" + w.name
		}
		args = append(args, "--to", base)
	}
	var stderr strings.Builder
	command := exec.CommandContext(l.ctx, l.caddy, args...)
	command.Stderr = &stderr
	failed := command.Run()
	content, err := os.ReadFile(file)
	if err != nil { // requests that fail are in the report
		return nil, fmt.Errorf("caddy replay: %w: %s", failed, strings.TrimSpace(stderr.String()))
	}
	var report struct{ Targets []result }
	if err := json.Unmarshal(content, &report); err != nil {
		return nil, err
	}
	results := make(map[string]result)
	for _, r := range report.Targets {
		results[r.Name] = r
	}
	return results, l.ctx.Err()
}
