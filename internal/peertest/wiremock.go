// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"
)

// wireMockPackage is WireMock as npm has it. Answers that are held in testdata are
// of this version.
const wireMockPackage = "wiremock@3.13.2"

// WireMockJar returns the path of WireMock's standalone jar, which needs npm to be
// installed.
func WireMockJar(t testing.TB) string {
	t.Helper()
	jars, err := filepath.Glob(filepath.Join(NPM(t, wireMockPackage), "node_modules/wiremock/build/wiremock-standalone-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("%d jars in %s, error %v: expected 1", len(jars), wireMockPackage, err)
	}
	return jars[0]
}

// WireMock runs WireMock with a folder as its root until the test ends, and
// returns its address. It needs java.
func WireMock(t testing.TB, root string, args ...string) string {
	t.Helper()
	addr := Addr(t)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		"-Xmx512m", "-jar", WireMockJar(t),
		"--bind-address", host, "--port", port, "--root-dir", root, "--disable-banner",
	}, args...)
	Start(t, exec.Command("java", args...), addr) //nolint:gosec // the test's own arguments
	return addr
}
