// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package frame

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestReaderReadsWhatTheCommandWrites unpacks blocks that refer to one another,
// which the library does not write.
func TestReaderReadsWhatTheCommandWrites(t *testing.T) {
	var content strings.Builder
	for i := range 40_000 {
		content.WriteString("order ")
		content.WriteString(strings.Repeat(string(rune('a'+i%26)), i%17))
	}
	for _, options := range []string{"-BD -B4", "-BD -B5 -9", "-BX", "--content-size -B7", "-B4 --no-frame-crc"} {
		command := exec.Command("lz4", append(strings.Fields(options), "-c")...)
		command.Stdin = strings.NewReader(content.String())
		packed, err := command.Output()
		if err != nil {
			t.Fatalf("lz4 %s: %v", options, err)
		}
		if got, err := io.ReadAll(NewReader(bytes.NewReader(packed), nil)); err != nil || string(got) != content.String() {
			t.Errorf("lz4 %s: got %d of %d bytes, error %v", options, len(got), content.Len(), err)
		}
	}
}
