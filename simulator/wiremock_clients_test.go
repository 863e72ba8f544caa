// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package simulator

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// TestWireMocksClients has WireMock's own client for Java, and one of npm, do what
// they can with WireMock and with a simulator: they find no difference.
func TestWireMocksClients(t *testing.T) {
	dir := t.TempDir()
	jar := peertest.WireMockJar(t)
	program(t, "javac", "-cp", jar, "-d", dir, "testdata/wiremock/Client.java")
	t.Setenv("NODE_PATH", filepath.Join(peertest.NPM(t, "wiremock-captain@4.1.3"), "node_modules"))
	_, simulator := serve(t, "simulator {", "mappings_admin", "}")
	for name, url := range map[string]string{"WireMock": "http://" + peertest.WireMock(t, t.TempDir()), "simulator": simulator} {
		_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range [][]string{
			{"java", "-cp", jar + string(os.PathListSeparator) + dir, "Client", port},
			{"node", "testdata/wiremock/captain.js", url},
		} {
			if out := program(t, client[0], client[1:]...); !strings.Contains(out, "all is well") {
				t.Errorf("%s with %s:\n%s", client[0], name, out)
			}
		}
	}
}

// program runs one and returns what it prints.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
