// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package foreign

import (
	"syscall"
	"testing"
)

func TestAListWaitsForNoPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"POST http://shop.test/\n@pipe\n", "curl -d @pipe http://shop.test/\n"} {
		if records, skips := decode(t, []byte(list)); len(records) != 0 || skips.Total() != 1 {
			t.Errorf("%s: %v", list, records)
		}
	}
}
