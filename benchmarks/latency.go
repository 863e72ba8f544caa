// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// latencyUnderLoad asks for a stage of 100 ms with thousands of connections
// open, in an open loop at 60 % of what the machine does at most. Latency counts
// from when a request was due. How exact an answer can be on this machine, nginx
// shows at the same rate.
func latencyUnderLoad(l *lab) error {
	connections := 5000
	if l.short {
		connections = 100
	}
	nginx, err := l.startNginxOn(serverHalf, "nginx", "load_module modules/ngx_http_echo_module.so;", "location / { echo_sleep 0.1; echo x; }")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "\n%d connections wait, others are used as it takes, a stage of 100 ms\n\n", connections)
	fmt.Fprintln(l.out, "| server | most of the simulator | asked | reached | p50 | p99 | p99 in the worst second | errors |")
	fmt.Fprintln(l.out, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, c := range []struct {
		name, option string
		variables    []string
	}{
		{"simulator", "", nil},
		{"simulator, GOGC=off GOMEMLIMIT=1GiB", "", []string{"GOGC=off", "GOMEMLIMIT=1GiB"}},
		{"simulator, express", "express", nil},
	} {
		s, err := l.startCaddy("latency", "simulator {\n"+c.option+"\nbody x\nstage 0 200 100ms\n}", c.variables...)
		if err != nil {
			return err
		}
		if err := l.latencyOf(connections, c.name, s, nginx); err != nil {
			return err
		}
	}
	return nil
}

// latencyOf compares a server and nginx at 60 % of what the server does.
func (l *lab) latencyOf(connections int, name string, s, nginx *server) error {
	defer s.stop()
	most, err := l.replay(s.url("/"), connections, "--max", "--duration", l.turn.String())
	if err != nil {
		return err
	}
	rate := int64(most.Rate * 0.6)
	contenders := []*server{s, nginx}
	turns := make([][]exactness, len(contenders))
	for range l.rounds {
		for i, contender := range contenders {
			t, err := l.exactness(contender, connections, rate)
			if err != nil {
				return err
			}
			turns[i] = append(turns[i], t)
		}
	}
	for i, label := range []string{name, "nginx, echo_sleep"} {
		var errors int64
		for _, t := range turns[i] {
			errors += t.errors
		}
		slices.SortFunc(turns[i], func(a, b exactness) int { return cmp.Compare(a.p99, b.p99) })
		t := turns[i][l.rounds/2]
		fmt.Fprintf(l.out, "| %s | %.0f | %d | %.0f | %.2f ms | %.1f ms | %.1f ms | %d |\n",
			label, most.Rate, rate, t.rate, t.p50, t.p99, t.worst, errors)
	}
	return nil
}

// exactness is what one run in an open loop came to, in milliseconds.
type exactness struct {
	rate, p50, p99, worst float64
	errors                int64
}

// warmUp is how long a run goes on before it counts: its connections open then.
const warmUp = 2

// exactness loads a server at a rate. Of p99 it returns the median and the worst
// of the seconds, without those in which the connections open and the last.
func (l *lab) exactness(s *server, connections int, rate int64) (exactness, error) {
	_, letGo, err := hold(s, connections)
	defer letGo()
	if err != nil {
		return exactness{}, err
	}
	length := max(3*l.turn, (warmUp+2)*time.Second)
	seconds := filepath.Join(l.dir, "seconds.csv")
	t, err := l.replay(s.url("/"), connections, "--rate", fmt.Sprintf("%d/s", rate), "--duration", length.String(), "--report", "csv="+seconds)
	if err != nil {
		return exactness{}, err
	}
	p99s, err := column(seconds, "p99_ms")
	if err != nil || len(p99s) < warmUp+2 {
		return exactness{}, fmt.Errorf("reading the seconds of a replay: %d, %v", len(p99s), err)
	}
	p99s = p99s[warmUp : len(p99s)-1]
	slices.Sort(p99s)
	return exactness{t.Rate, t.Latency.P50, p99s[len(p99s)/2], p99s[len(p99s)-1], t.Errors}, nil
}

// column reads one column of numbers from a CSV file, without fields that are
// empty.
func column(name, title string) ([]float64, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var values []float64
	index := slices.Index(rows[0], title)
	if index < 0 {
		return nil, fmt.Errorf("there is no column %s", title)
	}
	for _, row := range rows[1:] {
		if row[index] == "" { // nothing was answered in that second
			continue
		}
		value, err := strconv.ParseFloat(row[index], 64)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// notAllAnswered is caddy replay's exit status when a request had no answer.
const notAllAnswered = 3

// replay runs caddy replay on a URL and returns what it reports of it.
func (l *lab) replay(url string, connections int, options ...string) (target, error) {
	command := append([]string{l.caddy, "replay", url, "-c", fmt.Sprint(connections), "--report", "json", "-q"}, options...)
	command = l.on(clientHalf, command...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || failed.ExitCode() != notAllAnswered) {
		return target{}, fmt.Errorf("running caddy replay: %v", err)
	}
	report, err := decodeReplay(string(out))
	if err != nil {
		return target{}, err
	}
	return report.Targets[0], nil
}
