// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package caddytest

import (
	"os"
	"os/exec"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
)

// AsCaddy in the environment of a test's binary makes it the caddy command, if
// its TestMain calls BecomeCaddy.
const AsCaddy = "REHEARSAL_AS_CADDY=1"

// BecomeCaddy runs the caddy command in place of the tests if the environment
// says so, and does not return then.
func BecomeCaddy() {
	if os.Getenv("REHEARSAL_AS_CADDY") != "" {
		caddycmd.Main()
		os.Exit(0)
	}
}

// Command gives the test's binary as a Caddy: a process of its own, to be ended
// in whatever way, at the latest with the test.
func Command(t testing.TB, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...) //nolint:gosec // the test itself
	cmd.Env = append(os.Environ(), AsCaddy)
	return cmd
}
