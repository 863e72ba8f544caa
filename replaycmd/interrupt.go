// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilInterrupted gives a context that the first interrupt ends. The second
// ends the process.
func untilInterrupted(parent context.Context, stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	stopped := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			fmt.Fprintln(stderr, "\nEnding the run. Interrupt again to leave at once.")
			cancel()
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			os.Exit(exitInterrupted)
		case <-stopped:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel()
	}
}
