// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestLearnTheShop learns the shop from what 30 users did: the routes are those
// that a person would write. What was learned runs, and the recording compared
// with it has its differences where the shop makes something anew.
func TestLearnTheShop(t *testing.T) {
	dir, file := record(t, 30, ""), filepath.Join(t.TempDir(), "Caddyfile")
	out, err := caddytest.Command(t, "replay", "learn", "-o", file, "--fail", "match>=1", "--fail", "mix<=0", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, found := range regexp.MustCompile(`(?m)^\t\t# (.*): \d+ requests$`).FindAllSubmatch(text, -1) {
		routes = append(routes, string(found[1]))
	}
	if want := []string{
		"GET /", "GET /api/points", "POST /api/token", "POST /carts", "GET /catalog, query page=1", "GET /catalog, query page=2",
		"POST /login", "POST /orders", "GET /carts/*", "POST /carts/*/items", "GET /orders/*",
	}; !slices.Equal(routes, want) {
		t.Errorf("the routes are\n%s\nwant\n%s", strings.Join(routes, "\n"), strings.Join(want, "\n"))
	}
	addr := caddytest.Addr(t)
	caddytest.Run(t, strings.Replace(string(text), ":8080 {", "http://"+addr+" {", 1))
	for path, want := range map[string]string{"/catalog?page=2": `"next":3`, "/carts/1234": `name="csrf"`, "/orders/4711": `"pieces"`, "/none": "not in the recording"} {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: got %q, error %v, want %s", path, body, err, want)
		}
	}
	out, err = caddytest.Command(t, "replay", "--rate", "1000", "--compare", "--noise", "self", "--fail", "4xx=0", "--to", "learned="+addr, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, pattern := range []string{
		`(?s)\nGET /carts/\*\n.*changed .*<title>Cart \d+</title> → `, // as each cart has its own page
		`(?s)\nGET /orders/\*\n.*changed .*\$\.order\n`,
		`(?s)\nPOST /carts/\*/items\n.*changed .*\$\.cart\n`,
		`(?s)\nPOST /orders\n.*missing .*header Location\n`,
	} {
		if !regexp.MustCompile(pattern).Match(out) {
			t.Errorf("no %s in\n%s", pattern, out)
		}
	}
	if strings.Contains(string(out), "status ") {
		t.Errorf("a status differs:\n%s", out)
	}
}
