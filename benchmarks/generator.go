// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// generate runs a load generator and reads its report.
func (l *lab) generate(read func(string) (turn, error), command ...string) (turn, error) {
	var out strings.Builder
	command = l.on(clientHalf, command...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		return turn{}, err
	}
	peak := peakMemory(cmd.Process.Pid)
	failed := cmd.Wait()
	memory := peak()
	t, err := read(out.String())
	if err := errors.Join(failed, err); err != nil || t.requests == 0 {
		return t, fmt.Errorf("running %s: %v\n%s", strings.Join(command, " "), err, out.String())
	}
	t.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / float64(t.requests)
	t.memory = memory
	return t, nil
}

// peakMemory watches what a process and its children hold in RAM, until the
// function that it returns is called, which returns the most. What the kernel
// reports at the end of a process contains the memory of the one it came from.
func peakMemory(pid int) func() int64 {
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			most = max(most, memoryOf(family(pid)))
			select {
			case <-ticker.C:
			case <-done:
				peak <- most
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-peak
	}
}
