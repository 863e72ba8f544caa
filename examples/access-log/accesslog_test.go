// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package accesslog tests the example as it stands in its folder.
package accesslog

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// targets are what clients ask for, bytes that a log may escape among them.
var targets = []string{"/items?page=2&q=a%2Fb;c", "/files//a%20b", "/quote%22d?x=%5C&y=+"}

// ask sends the requests of clients.
func ask(t *testing.T, addr string) {
	t.Helper()
	for _, target := range targets {
		request, err := http.NewRequest("POST", "http://"+addr+target, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", `a "browser" \ä`)
		request.Header.Set("Referer", "https://shop.test/")
		request.Header["X-Tag"] = []string{"one", "two"}
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}

// replayed returns what a blackhole has recorded of a log that was replayed to it.
func replayed(t *testing.T, log, to, recordings string) []recording.Request {
	t.Helper()
	out, err := caddytest.Command(t, "replay", "--to", to, "--max", "-c", "1", "--fail", "errors=0", log).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := caddy.Stop(); err != nil { // ends the recording
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(recordings, "*.lz4"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recording in %s: %v\n%s", recordings, err, out)
	}
	var all []recording.Request
	for _, name := range files {
		file, err := recording.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for {
			r, err := file.Next()
			if err != nil {
				break
			}
			c := new(recording.Copy)
			c.Take(r)
			all = append(all, c.Request)
		}
	}
	if len(all) != len(targets) {
		t.Fatalf("%d requests arrived\n%s", len(all), out)
	}
	return all
}

// check looks for method, target and fields of the requests that clients sent.
func check(t *testing.T, got []recording.Request, fields ...string) {
	t.Helper()
	for i, r := range got {
		if string(r.Method) != "POST" || string(r.URI) != targets[i] || len(r.Body) > 0 {
			t.Errorf("got %s %s with %d bytes", r.Method, r.URI, len(r.Body))
		}
		for _, field := range fields {
			if !strings.Contains(string(r.Headers), field+"\r\n") {
				t.Errorf("%s has no %s:\n%s", r.URI, field, r.Headers)
			}
		}
	}
}

func TestExample(t *testing.T) {
	data, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	if formatted := caddyfile.Format(data); string(formatted) != string(data) {
		t.Errorf("the Caddyfile is not formatted; it should be\n%s", formatted)
	}
	dir := t.TempDir()
	log, recordings := filepath.Join(dir, "access.log"), filepath.Join(dir, "recordings")
	service, next := caddytest.Addr(t), caddytest.Addr(t)
	_, servicePort, _ := strings.Cut(service, ":")
	_, nextPort, _ := strings.Cut(next, ":")
	caddytest.Run(t, strings.NewReplacer("\n:8080 {", "\nhttp://:"+servicePort+" {", "\n:9001 {", "\nhttp://:"+nextPort+" {",
		"output file access.log", "output file "+log, "record recordings", "record "+recordings).Replace(string(data)))
	ask(t, service)
	check(t, replayed(t, log, next, recordings), "Host: "+service, `User-Agent: a "browser" \ä`, "Referer: https://shop.test/", "X-Tag: one", "X-Tag: two")
}
