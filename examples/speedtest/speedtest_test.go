// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package speedtest_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestSpeedtest runs the script, for which nginx and haproxy must be installed.
func TestSpeedtest(t *testing.T) {
	script := exec.CommandContext(t.Context(), "bash", "speedtest.sh", "-n", "50", "-c", "5", "--report", "json")
	script.Env = append(os.Environ(), caddytest.AsCaddy, "CADDY="+os.Args[0])
	var stderr strings.Builder
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var report struct {
		Targets []struct {
			Name   string
			Status map[string]int
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ways := []string{"direct", "nginx", "haproxy", "caddy"}
	for _, target := range report.Targets {
		if !slices.Contains(ways, target.Name) || target.Status["200"] != 50 {
			t.Errorf("%s: got answers %v", target.Name, target.Status)
		}
	}
	if len(report.Targets) != len(ways) {
		t.Errorf("reported %d targets", len(report.Targets))
	}
	for _, port := range []string{"9110", "9111", "9112", "9113"} {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			t.Errorf("what listens on port %s goes on", port)
		}
	}
}
