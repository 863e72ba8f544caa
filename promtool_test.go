// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package rehearsal

import (
	"os/exec"
	"testing"
)

// TestPromtool holds the alerts to what Prometheus makes of them.
func TestPromtool(t *testing.T) {
	t.Chdir("rules")
	for _, args := range [][]string{{"check", "rules", "rehearsal.yaml"}, {"test", "rules", "rehearsal_test.yaml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
