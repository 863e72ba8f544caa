// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package recorder

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestModeIsExactWhateverTheUmaskIs(t *testing.T) {
	for _, umask := range []int{0o000, 0o077} {
		for _, mode := range []Mode{0o600, 0o640, 0o666} {
			o := testOptions(t.TempDir())
			o.Mode = mode
			before := syscall.Umask(umask)
			r := New(o, newWitness())
			addText(t, r, "1", "x")
			r.Close()
			syscall.Umask(before)
			info, err := os.Stat(filepath.Join(o.Dir, filesIn(t, o.Dir)[0]))
			if err != nil || info.Mode().Perm() != os.FileMode(mode) {
				t.Errorf("umask %03o: got mode %v, error %v, want %s", umask, info.Mode(), err, mode)
			}
		}
	}
}
