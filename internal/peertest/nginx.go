// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Nginx runs nginx in the foreground until the test ends, with a configuration
// whose block of http gets folders to which any user may write. It returns when
// that listens at an address.
func Nginx(t testing.TB, config, addr string) {
	t.Helper()
	dir := t.TempDir()
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary.WriteString("\n" + kind + "_temp_path " + filepath.Join(dir, kind) + ";")
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(strings.Replace(config, "http {", "http {"+temporary.String(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	Start(t, exec.Command("nginx", "-p", dir, "-c", file, "-e", "stderr", "-g", "daemon off; master_process off; error_log stderr; pid "+filepath.Join(dir, "pid")+";"), addr)
}
