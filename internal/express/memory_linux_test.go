// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestBlocksThatShareAFileDoNotMix(t *testing.T) {
	files := make(map[*os.File]bool)
	for i := range 100 {
		body := bytes.Repeat(fmt.Appendf(nil, "%d,", i), minFromFile/2+i)
		e := NewBlock(body).inFile()
		if e.file == nil {
			t.Fatal("there is no file")
		}
		files[e.file] = true
		got := make([]byte, len(body))
		if _, err := e.file.ReadAt(got, e.offset); err != nil || !bytes.Equal(got, body) {
			t.Errorf("body %d is not in its place: %v", i, err)
		}
	}
	if len(files) > 4 {
		t.Errorf("%d files for 100 small blocks", len(files))
	}
}

func TestFilesOfBlocksAreClosed(t *testing.T) {
	before := filesOfBlocks()
	for range 20 {
		if NewBlock(make([]byte, hugePage)).inFile().file == nil {
			t.Fatal("there is no file")
		}
	}
	eventually(t, "they are closed", func() bool {
		runtime.GC()
		return filesOfBlocks() <= before
	})
}

// filesOfBlocks counts the files in memory that are open.
func filesOfBlocks() (count int) {
	open, _ := filepath.Glob("/proc/self/fd/*")
	for _, name := range open {
		if target, _ := os.Readlink(name); strings.Contains(target, "memfd:bodies") {
			count++
		}
	}
	return count
}
