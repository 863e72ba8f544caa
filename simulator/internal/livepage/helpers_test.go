// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	// has the page served
	_ "github.com/caddy-rehearsal/rehearsal/simulator"
)

// serve runs Caddy with a simulator of these options and gives the site's URL.
func serve(t testing.TB, options ...string) string {
	t.Helper()
	addr := caddytest.Addr(t)
	caddytest.Run(t, site(addr, options...))
	return "http://" + addr
}

func site(addr string, options ...string) string {
	return "http://" + addr + " {\nsimulator {\nname demo\nadmin\n" + strings.Join(options, "\n") + "\n}\n}\n"
}

// ask sends a request and gives the status, the header and the body.
func ask(t testing.TB, method, url, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(content)
}

func post(t testing.TB, url, recipe string) {
	t.Helper()
	if status, _, body := ask(t, "POST", url+"/_admin/add_recipe", recipe); status != 201 {
		t.Fatalf("posting %s: got %d %s", recipe, status, body)
	}
}

// helloMapping writes a mapping for /hello and gives its file.
func helloMapping(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hello.json")
	mapping := `{"name":"hello","request":{"method":"GET","urlPath":"/hello"},"response":{"status":201,"fixedDelayMilliseconds":2}}`
	if err := os.WriteFile(file, []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
