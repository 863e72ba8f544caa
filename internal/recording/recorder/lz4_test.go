// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package recorder

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFilesByCommand has the lz4 command check and unpack a file of many flushes.
func TestFilesByCommand(t *testing.T) {
	o := testOptions(t.TempDir())
	w := newWitness()
	r := New(o, w)
	for i := range 40 {
		addText(t, r, fmt.Sprint(i), noise(i*i*100))
		r.flush()
		eventually(t, "the record is on disk", func() bool { return w.recordedSoFar() == i+1 })
	}
	r.Close()
	path := filepath.Join(o.Dir, filesIn(t, o.Dir)[0])
	if out, err := exec.Command("lz4", "-t", path).CombinedOutput(); err != nil {
		t.Errorf("lz4 -t: %v\n%s", err, out)
	}
	plain := filepath.Join(t.TempDir(), "plain.fbf")
	if out, err := exec.Command("lz4", "-d", path, plain).CombinedOutput(); err != nil {
		t.Fatalf("lz4 -d: %v\n%s", err, out)
	}
	if content, err := os.ReadFile(plain); err != nil || int64(len(content)) != w.raw || !bytes.Contains(content, []byte("shop.test")) {
		t.Errorf("got %d bytes of %d, error %v", len(content), w.raw, err)
	}
}
