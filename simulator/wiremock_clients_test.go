// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package simulator

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestWireMocksClients has WireMock's own client for Java, and one of npm, do what
// they can with WireMock and with a simulator: they find no difference.
func TestWireMocksClients(t *testing.T) {
	dir := t.TempDir()
	program(t, "npm", "install", "--no-audit", "--no-fund", "--prefix", dir, "wiremock@3.13.2", "wiremock-captain@4.1.3")
	jars, err := filepath.Glob(filepath.Join(dir, "node_modules/wiremock/build/wiremock-standalone-*.jar"))
	if err != nil || len(jars) != 1 {
		t.Fatalf("%d jars, error %v", len(jars), err)
	}
	program(t, "javac", "-cp", jars[0], "-d", dir, "testdata/wiremock/Client.java")
	t.Setenv("NODE_PATH", filepath.Join(dir, "node_modules"))
	_, simulator := serve(t, "simulator {", "mappings_admin", "}")
	for name, url := range map[string]string{"WireMock": runWireMock(t, jars[0]), "simulator": simulator} {
		_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range [][]string{
			{"java", "-cp", jars[0] + string(os.PathListSeparator) + dir, "Client", port},
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

// runWireMock starts WireMock without mappings and returns its URL.
func runWireMock(t *testing.T, jar string) string {
	t.Helper()
	addr := caddytest.Addr(t)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "java", "-jar", jar, "--bind-address", host, "--port", port, "--root-dir", t.TempDir(), "--disable-banner")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	eventually(t, func() bool {
		resp, err := http.Get("http://" + addr + "/__admin/health")
		if err != nil {
			return false
		}
		status, _ := read(t, resp)
		return status == http.StatusOK
	})
	return "http://" + addr
}
