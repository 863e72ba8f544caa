// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

func init() { caddy.RegisterModule(probe{}) }

// probe is a handler that prints what it learns.
type probe struct {
	Name string `json:"name"`
}

func (probe) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.lifecycle_probe", New: func() caddy.Module { return new(probe) }}
}

func (p *probe) Provision(ctx caddy.Context) error {
	if err := OnStart(ctx, func() { fmt.Println(p.Name, "started") }); err != nil {
		return err
	}
	return OnExit(ctx, func() {
		<-Exits()
		fmt.Println(p.Name, "exits")
	})
}

func (*probe) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r)
}

// TestLifecycle has a Caddy start, replace its configuration, refuse one that
// cannot come into force, and exit.
func TestLifecycle(t *testing.T) {
	admin, site := caddytest.Addr(t), caddytest.Addr(t)
	config := func(name, more string) string {
		return `{"admin": {"listen": "` + admin + `", "config": {"persist": false}}, "apps": {"http": {"servers": {"s": {
			"listen": ["` + site + `"], "automatic_https": {"disable": true},
			"routes": [{"handle": [{"handler": "lifecycle_probe", "name": "` + name + `"}` + more + `]}]}}}}}`
	}
	file := filepath.Join(t.TempDir(), "caddy.json")
	if err := os.WriteFile(file, []byte(config("first", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := caddytest.Command(t, "run", "--config", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("printed %q, error %v; want %q", lines.Text(), lines.Err(), want)
		}
	}
	post := func(path, body string) int {
		t.Helper()
		resp, err := http.Post("http://"+admin+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	expect("first started")
	if code := post("/load", config("refused", `, {"handler": "static_response", "no_such_field": 1}`)); code != http.StatusBadRequest {
		t.Errorf("a configuration that is not valid: status %d", code)
	}
	if code := post("/load", config("second", "")); code != http.StatusOK {
		t.Errorf("a reload: status %d", code)
	}
	expect("second started")
	post("/stop", "")
	expect("second exits")
	if lines.Scan() {
		t.Errorf("printed %q after the exit began", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*probe)(nil)
	_ caddyhttp.MiddlewareHandler = (*probe)(nil)
)
