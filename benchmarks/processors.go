// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Servers and load generators that share processors measure one another as
// well: who is scheduled more often wins. So each side has one half of them,
// unless they are to share.
type half int

const (
	serverHalf half = iota
	clientHalf
)

// processors returns the numbers of those that a side has.
func (l *lab) processors(h half) []string {
	all := usable()
	switch {
	case l.shared || len(all) < 2:
		return all
	case h == serverHalf:
		return all[:len(all)/2]
	}
	return all[len(all)/2:]
}

// usable returns the processors that this process may use, which proc(5)'s status
// lists like 0-3,8.
func usable() (all []string) {
	status, _ := os.ReadFile("/proc/self/status")
	_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	list, _, _ = strings.Cut(list, "\n")
	for span := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, ok := strings.Cut(span, "-")
		if !ok {
			last = first
		}
		n, _ := strconv.Atoi(first)
		for m, _ := strconv.Atoi(last); n <= m; n++ {
			all = append(all, strconv.Itoa(n))
		}
	}
	return all
}

// on makes a command run on one half of the processors.
func (l *lab) on(h half, command ...string) []string {
	return append([]string{"taskset", "-c", strings.Join(l.processors(h), ",")}, command...)
}

// split returns in words who has which processors.
func (l *lab) split() string {
	if slices.Equal(l.processors(serverHalf), l.processors(clientHalf)) {
		return "servers and load generators share the processors"
	}
	return fmt.Sprintf("servers have %d of the processors, load generators the others", len(l.processors(serverHalf)))
}
