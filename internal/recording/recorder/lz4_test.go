// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package recorder

import (
	"bytes"
	"os/exec"
	"testing"
)

// TestStoredFramesByCommand has the lz4 command check the frames.
func TestStoredFramesByCommand(t *testing.T) {
	var frames, want bytes.Buffer
	for _, size := range storedSizes {
		block := []byte(noise(size))
		want.Write(block)
		writeStored(&frames, block)
	}
	command := exec.Command("lz4", "-d", "-c")
	command.Stdin = &frames
	if got, err := command.Output(); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("lz4: got %d of %d bytes, error %v", len(got), want.Len(), err)
	}
}
