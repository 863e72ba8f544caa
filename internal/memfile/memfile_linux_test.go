// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package memfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBodiesThatShareAFileDoNotMix(t *testing.T) {
	files := make(map[*os.File]bool)
	for i := range 100 {
		body := bytes.Repeat(fmt.Appendf(nil, "%d,", i), 8<<10+i)
		e := New(body).InFile()
		if e.File == nil {
			t.Fatal("there is no file")
		}
		files[e.File] = true
		got := make([]byte, len(body))
		if _, err := e.File.ReadAt(got, e.Offset); err != nil || !bytes.Equal(got, body) {
			t.Errorf("body %d is not in its place: %v", i, err)
		}
	}
	if len(files) > 4 {
		t.Errorf("%d files for 100 small bodies", len(files))
	}
}

func TestFilesOfBodiesAreClosed(t *testing.T) {
	before := openFiles()
	for range 20 {
		if New(make([]byte, hugePage)).InFile().File == nil {
			t.Fatal("there is no file")
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for runtime.GC(); openFiles() > before; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("%d files are open, %d before", openFiles(), before)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// openFiles counts the files in memory that are open.
func openFiles() (count int) {
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range open {
		if target, _ := os.Readlink(name); strings.Contains(target, "memfd:bodies") {
			count++
		}
	}
	return count
}
