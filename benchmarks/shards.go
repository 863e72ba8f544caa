// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// othersRecords measures what a shard spends on records that are another's: one of
// 50 shards has few of its own. What the command needs to start is
// measured with a small recording, and taken off.
func othersRecords(l *lab) error {
	sizes := [2]int64{10e6, 1e9}
	if l.short {
		sizes[1] = 30e6
	}
	fmt.Fprintln(l.out, "\nThe conversations of `links`, and the POSTs of `memory`, each in one uncompressed recording of "+fmt.Sprint(sizes[1]/1e6)+" MB")
	fmt.Fprintln(l.out)
	fmt.Fprintln(l.out, "| records | whose one is follows from | CPU | MB per CPU second |")
	fmt.Fprintln(l.out, "|---|---|--:|--:|")
	target, err := l.startNginx("target", "client_max_body_size 1m;\n"+static100)
	if err != nil {
		return err
	}
	conversations := func(name string, size int64) error {
		_, err := writeConversations(name, size)
		return err
	}
	for _, way := range []struct {
		records, from string
		write         func(name string, size int64) error
		flags         []string
	}{
		{"conversations, 1.7 kB", "its identifier", conversations, nil},
		{"conversations, 1.7 kB", "a cookie", conversations, []string{"--session", "cookie sid"}},
		{"POSTs, 64 kB", "its identifier", writeRecording, nil},
	} {
		var spent [2]time.Duration
		for i, size := range sizes {
			file := filepath.Join(l.dir, "shards.fbf")
			if err := way.write(file, size); err != nil {
				return err
			}
			var all []time.Duration
			for range l.rounds {
				c, err := measured(l.caddy, slices.Concat([]string{"replay", "--shard", "1/50", "--to", target.url(""), "--max", "-q", "--report", "json"}, way.flags, []string{file})...)
				if err != nil {
					return err
				}
				all = append(all, c.cpu)
			}
			slices.Sort(all)
			spent[i] = all[len(all)/2]
		}
		cpu := spent[1] - spent[0]
		fmt.Fprintf(l.out, "| %s | %s | %.2f s | %.0f |\n", way.records, way.from, cpu.Seconds(), float64(sizes[1]-sizes[0])/1e6/cpu.Seconds())
	}
	return nil
}
