// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fifo makes a pipe with a name.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPipesAreReadOnceAndMerged(t *testing.T) {
	a, b := fifo(t), fifo(t)
	go os.WriteFile(a, encode(1, 30_000, 50_000), 0o600)
	go os.WriteFile(b, compress(t, encode(20_000, 40_000)), 0o600)
	m, err := Open(t.Context(), files(t, a, b, write(t, t.TempDir(), "c.fbf", encode(0, 45_000))), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.patience = time.Hour
	want := "0 1 20000 30000 40000 45000 50000"
	if got := strings.Join(ids(t, m), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAPipeWithoutAWriterEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	m, err := Open(ctx, files(t, fifo(t)), unexpected(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}
