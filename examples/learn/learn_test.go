// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package learn tests the example as it stands in its folder.
package learn

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestExample asks for what is simulated and for what is passed on, learns from
// the record of the latter with the README's own command, and asks what was
// learned for the same.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	site, service, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	misses := filepath.Join(dir, "misses")
	caddytest.Run(t, strings.NewReplacer(
		":8080 {", "http://"+site+" {", ":9000 {", "http://"+service+" {", "127.0.0.1:9000", service, "record misses", "record "+misses, "p50=120ms,p99=2s", "1ms",
	).Replace(string(text)))
	asked(t, site, "/payments/7", `{"paid": true}`)
	asked(t, site, "/orders/7", "the service has /orders/7")
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		unfinished, _ := filepath.Glob(filepath.Join(misses, "*.tmp"))
		if finished, _ := filepath.Glob(filepath.Join(misses, "requests_*")); len(finished) == 1 && len(unfinished) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}

	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?m)^ {4}\$ caddy (replay learn -o (\S+) .*)$`).FindStringSubmatch(string(readme))
	if step == nil {
		t.Fatal("the README has no learn step")
	}
	cmd := caddytest.Command(t, strings.Fields(step[1])...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", step[1], err, out)
	}
	learned, err := os.ReadFile(filepath.Join(dir, step[2]))
	if err != nil {
		t.Fatal(err)
	}
	caddytest.Run(t, strings.Replace(string(learned), ":8080 {", "http://"+site+" {", 1))
	asked(t, site, "/orders/7", "the service has /orders/7")
	asked(t, site, "/payments/7", "not in the recording")
}

// asked asks for a path and wants a body.
func asked(t *testing.T, site, path, want string) {
	t.Helper()
	resp, err := http.Get("http://" + site + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
		t.Errorf("%s: got %q, error %v, want %q", path, got, err, want)
	}
}
