// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// latencyUnderLoad asks a stage of 100 ms on thousands of connections, in an
// open loop at 60 % of what the machine does at most, and looks at how much
// later than 100 ms the answers come. Latency counts from when a request was
// due.
func latencyUnderLoad(l *lab) error {
	connections := 5000
	if l.short {
		connections = 100
	}
	fmt.Fprintf(l.out, "\n%d connections, a stage of 100 ms\n\n", connections)
	fmt.Fprintln(l.out, "| path | round | most requests/s | asked | reached | p50 | p99 | errors |")
	fmt.Fprintln(l.out, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, path := range []string{"normal", "express"} {
		option := ""
		if path == "express" {
			option = "express"
		}
		s, err := l.startCaddy("latency-"+path, "simulator {\n"+option+"\nbody x\nstage 0 200 100ms\n}")
		if err != nil {
			return err
		}
		for round := range l.rounds {
			most, err := l.replay(s.url("/"), connections, "--max")
			if err != nil {
				return err
			}
			asked := int64(most.Rate * 0.6)
			t, err := l.replay(s.url("/"), connections, "--rate", fmt.Sprintf("%d/s", asked))
			if err != nil {
				return err
			}
			fmt.Fprintf(l.out, "| %s | %d | %.0f | %d | %.0f | %.2f ms | %.2f ms | %d |\n",
				path, round+1, most.Rate, asked, t.Rate, t.Latency.P50, t.Latency.P99, t.Errors)
		}
		l.stopServers()
	}
	return nil
}

// replay runs caddy replay for a turn and gives what it reports of its target.
func (l *lab) replay(url string, connections int, pace ...string) (target, error) {
	command := append([]string{
		l.caddy, "replay", url, "-c", fmt.Sprint(connections), "--duration", l.turn.String(), "--report", "json", "-q",
	}, pace...)
	out, err := output(command...)
	if err != nil && out == "" {
		return target{}, err
	}
	report, err := decodeReplay(out)
	if err != nil {
		return target{}, err
	}
	return report.Targets[0], nil
}
