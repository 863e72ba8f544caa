// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

// Package objectstore tests the example as it stands in its folder.
package objectstore

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestExample follows the README: what clients send is in the bucket when Caddy
// has ended, and is read and sent again from there.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	store := caddytest.RunVersitygw(t)
	site, service, next := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	config := strings.NewReplacer(
		"http://127.0.0.1:7070", store.Endpoint, "\n:8080 {", "\nhttp://"+site+" {",
		"\n:9000 {", "\nhttp://"+service+" {", "127.0.0.1:9000", service, "\n:9001 {", "\nhttp://"+next+" {",
	).Replace(string(text))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("Caddyfile", []byte("{\n\tadmin off\n\tpersist_config off\n}\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	caddy := run(t, site)
	for range 3 {
		resp, err := http.Post("http://"+site+"/orders", "application/x-www-form-urlencoded", strings.NewReader(`{"sku": "teapot"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	stop(t, caddy)
	if left, err := os.ReadDir("recordings"); err != nil || len(left) > 0 {
		t.Errorf("%d files are left here, error %v", len(left), err)
	}
	if there, err := filepath.Glob(filepath.Join(store.Folder, "shop", "*", "requests_*.fbf.lz4")); err != nil || len(there) != 1 {
		t.Errorf("the bucket has %q, error %v", there, err)
	}
	url := store.URL("shop")
	out, err := caddytest.Command(t, "replay", "show", url).CombinedOutput()
	if err != nil || strings.Count(string(out), "/orders") != 3 {
		t.Errorf("error %v:\n%s", err, out)
	}
	caddy = run(t, next)
	out, err = caddytest.Command(t, "replay", "--to", "http://"+next, "--compare", "--speed", "100x", url).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the next version") {
		t.Errorf("error %v:\n%s", err, out)
	}
	stop(t, caddy)
}

// run runs Caddy in the current folder, and returns when it listens at an address.
func run(t *testing.T, addr string) *exec.Cmd {
	t.Helper()
	caddy := caddytest.Command(t, "run")
	if err := caddy.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return caddy
		}
		if time.Now().After(deadline) {
			t.Fatal("Caddy does not listen")
		}
	}
}

func stop(t *testing.T, caddy *exec.Cmd) {
	t.Helper()
	if err := caddy.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := caddy.Wait(); err != nil {
		t.Errorf("stopping Caddy: %v", err)
	}
}
