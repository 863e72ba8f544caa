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
// 200 shards has next to none of its own. What the command needs to start is
// measured with a small recording, and taken off.
func othersRecords(l *lab) error {
	sizes := [2]int64{10e6, 1e9}
	if l.short {
		sizes[1] = 30e6
	}
	fmt.Fprintln(l.out, "\nThe conversations of `links`, one uncompressed recording")
	fmt.Fprintln(l.out)
	fmt.Fprintln(l.out, "| whose a record is follows from | recording | requests | CPU | requests per CPU second | MB per CPU second |")
	fmt.Fprintln(l.out, "|---|--:|--:|--:|--:|--:|")
	target, err := l.startNginx("target", static100)
	if err != nil {
		return err
	}
	var files [2]string
	var requests [2]int
	for i, size := range sizes {
		files[i] = filepath.Join(l.dir, fmt.Sprintf("shards-%d.fbf", i))
		if requests[i], err = writeConversations(files[i], size); err != nil {
			return err
		}
	}
	for _, way := range []struct {
		name  string
		flags []string
	}{{"its identifier", nil}, {"a cookie", []string{"--session", "cookie sid"}}} {
		var spent [2]time.Duration
		for i, file := range files {
			var all []time.Duration
			for range l.rounds {
				c, err := measured(l.caddy, slices.Concat([]string{"replay", "--shard", "1/200", "--to", target.url(""), "--max", "-q", "--report", "json"}, way.flags, []string{file})...)
				if err != nil {
					return err
				}
				all = append(all, c.cpu)
			}
			slices.Sort(all)
			spent[i] = all[len(all)/2]
		}
		cpu, n := spent[1]-spent[0], requests[1]-requests[0]
		fmt.Fprintf(l.out, "| %s | %d MB | %d | %.2f s | %.0f | %.0f |\n", way.name, sizes[1]/1e6, requests[1], cpu.Seconds(), float64(n)/cpu.Seconds(), float64(sizes[1]-sizes[0])/1e6/cpu.Seconds())
	}
	return nil
}
