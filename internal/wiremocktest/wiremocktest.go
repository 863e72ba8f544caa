// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package wiremocktest is a real WireMock inside a test: the standalone jar of
// the npm package, which needs npm and java.
package wiremocktest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Package is WireMock as npm has it. Answers that are held in testdata are of
// this version.
const Package = "wiremock@3.13.2"

// Jar returns the path of the jar, which is installed once for all tests into
// the user's cache.
func Jar(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "rehearsal", strings.ReplaceAll(Package, "@", "-"))
	jars := filepath.Join(folder, "node_modules/wiremock/build/wiremock-standalone-*.jar")
	if found, _ := filepath.Glob(jars); len(found) > 0 {
		return found[0]
	}
	out, err := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--prefix", folder, Package).CombinedOutput()
	if err != nil {
		t.Fatalf("installing %s: %v\n%s", Package, err, out)
	}
	found, _ := filepath.Glob(jars)
	if len(found) == 0 {
		t.Fatalf("there is no jar in %s", Package)
	}
	return found[0]
}

// Start runs WireMock with a folder as its root until the test ends, and returns
// its address when it answers.
func Start(t testing.TB, root string, arguments ...string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	java := exec.Command("java", append([]string{"-Xmx512m", "-jar", Jar(t), "--bind-address", "127.0.0.1", "--port", port, "--root-dir", root, "--disable-banner"}, arguments...)...) //nolint:gosec // the test's own arguments
	java.Stdout, java.Stderr = &output, &output
	if err := java.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = java.Process.Kill()
		_ = java.Wait() // which is about the kill
		if t.Failed() {
			t.Logf("WireMock: %s", output.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return addr
		}
		if time.Now().After(deadline) {
			t.Fatalf("WireMock does not listen: %v", err)
		}
	}
}
