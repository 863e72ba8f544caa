// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package learn tests the example as it stands in its folder.
package learn

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestExample asks for what is simulated and for what is passed on, and waits
// for the file that the latter is recorded in.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	site, service, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	caddytest.Run(t, strings.NewReplacer(
		":8080 {", "http://"+site+" {", ":9000 {", "http://"+service+" {", "127.0.0.1:9000", service, "record misses", "record "+dir, "p50=120ms,p99=2s", "1ms",
	).Replace(string(text)))
	for path, want := range map[string]string{"/payments/7": `{"paid": true}`, "/orders/7": "the service has /orders/7"} {
		resp, err := http.Get("http://" + site + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, error %v, want %q", path, got, err, want)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(dir, "requests_*")); len(names) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}
}
