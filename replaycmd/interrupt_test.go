// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package replaycmd

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lines takes what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestTheFirstInterruptEndsTheContext(t *testing.T) {
	written := make(lines, 1)
	ctx, stop := interruptible(t.Context(), written)
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the context goes on")
	}
	if line := <-written; !strings.Contains(line, "Interrupt again") {
		t.Errorf("wrote %q", line)
	}
}

func TestAnUninterruptedRunSaysNothing(t *testing.T) {
	for range 100 {
		written := make(lines, 1)
		_, stop := interruptible(t.Context(), written)
		stop()
		if len(written) > 0 {
			t.Fatalf("wrote %q", <-written)
		}
	}
}
