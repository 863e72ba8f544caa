// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
)

// Servers and load generators that share processors measure one another as
// well: who is scheduled more often wins. So each side has one half of them,
// unless they are to share.
type half int

const (
	serverHalf half = iota
	clientHalf
)

// processors is how many a side has.
func (l *lab) processors() int {
	all := runtime.NumCPU()
	if l.shared || all == 1 {
		return all
	}
	return all / 2
}

// on makes a command run on one half of the processors.
func (l *lab) on(h half, command ...string) []string {
	if l.processors() == runtime.NumCPU() {
		return command
	}
	first, count := 0, l.processors()
	if h == clientHalf {
		first = count
	}
	return append([]string{"taskset", "-c", fmt.Sprintf("%d-%d", first, first+count-1)}, command...)
}

// split says who has which processors.
func (l *lab) split() string {
	if l.processors() == runtime.NumCPU() {
		return "servers and load generators share the processors"
	}
	return fmt.Sprintf("servers and load generators have %d of the processors each", l.processors())
}
