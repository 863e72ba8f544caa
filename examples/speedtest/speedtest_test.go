// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external && unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestSpeedtest runs the command, for which nginx, haproxy, dnsmasq and etcd must be
// installed: all six ways answer, and those with a registry follow it.
func TestSpeedtest(t *testing.T) {
	program := filepath.Join(t.TempDir(), "speedtest")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := exec.CommandContext(t.Context(), program, "-n", "50", "-c", "5")
	command.Env = append(os.Environ(), caddytest.AsCaddy, "CADDY="+os.Args[0])
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("got %s", stderr.String())
	}
	for _, want := range []string{
		`direct +nginx +haproxy +caddy +dns +kv\n`,
		`requests +50 +50 +50 +50 +50 +50\n`,
		`failed +0 +0 +0 +0 +0 +0\n`,
		`its first request after +-( +[\d.]+ ms){5}\n`,
		`its last request after +-( +[\d.]+ ms){5}\n`,
		`failed +-( +\d+/1600){5}\n$`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("expected %s in\n%s", want, out)
		}
	}
	for _, port := range []string{"9111", "9112", "9113", "9114", "9115", "9117", "9121", "9122", "9123", "9124", "9153", "9179"} {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			t.Errorf("what listens on port %s goes on", port)
		}
	}
}
