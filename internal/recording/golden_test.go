// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/pierrec/lz4/v4"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestFilesFromBefore reads what version 0.1 wrote, without the empty line.
func TestFilesFromBefore(t *testing.T) {
	for _, name := range []string{"samples.fbf", "samples.fbf.lz4"} {
		content, err := os.ReadFile(filepath.Join("testdata", "before", name))
		if err != nil {
			t.Fatal(err)
		}
		got := mustReadAll(t, bytes.NewReader(content))
		for i, want := range samples() {
			if !bytes.Equal(encode(got[i]), encode(want)) {
				t.Errorf("%s: record %d is read as something else than was written", name, i)
			}
		}
	}
}

// TestGoldenFiles pins the bytes that the encoder writes.
func TestGoldenFiles(t *testing.T) {
	plain := encode(samples()...)
	for name, got := range map[string][]byte{
		"samples.fbf":     plain,
		"samples.fbf.lz4": compress(t, plain, lz4.Block64Kb),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name == "samples.fbf" && !bytes.Equal(got, want) {
			t.Errorf("the encoder writes something else than %s", file)
		}
		for i, r := range mustReadAll(t, bytes.NewReader(want)) {
			if again := encode(r); !bytes.Equal(again, encode(samples()[i])) {
				t.Errorf("%s: record %d is read as something else than was written", file, i)
			}
		}
	}
}
