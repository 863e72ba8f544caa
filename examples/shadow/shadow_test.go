// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package shadow tests the example as it stands in its folder.
package shadow

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	if formatted := caddyfile.Format(text); string(formatted) != string(text) {
		t.Errorf("the Caddyfile is not formatted; it should be\n%s", formatted)
	}
	copies := make(chan *http.Request, 1000)
	candidate := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { copies <- r }))
	t.Cleanup(candidate.Close)
	shop, production, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	caddytest.Run(t, strings.NewReplacer(
		"http://:8080", "http://"+shop,
		"http://:9001", "http://"+production, "127.0.0.1:9001", production,
		"http://127.0.0.1:9002", candidate.URL, "http://:9002", "http://"+caddytest.Addr(t),
		"record recordings", "record "+dir,
	).Replace(string(text)))

	const sessions = 300
	for i := range sessions {
		for range 2 {
			visit(t, "http://"+shop+"/", fmt.Sprint("user", i))
		}
	}
	bySession := make(map[string]int)
	for range 2 * sampledSessions {
		select {
		case r := <-copies:
			if r.Header.Get("X-Shadow") != "candidate" || r.Header.Get("X-Forwarded-For") != "127.0.0.1" {
				t.Errorf("the candidate got %v", r.Header)
			}
			bySession[r.Header.Get("Cookie")]++
		case <-time.After(30 * time.Second):
			t.Fatalf("the candidate got copies of %d sessions", len(bySession))
		}
	}
	if len(bySession) != sampledSessions {
		t.Errorf("%d sessions were copied, want %d, always the same", len(bySession), sampledSessions)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(dir, "requests_*")); len(files) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}
}

// sampledSessions is how many of the 300 names are among the 10%.
const sampledSessions = 40

func visit(t *testing.T, url, session string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "session", Value: session})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "production answers /" {
		t.Fatalf("client got %q, error %v", body, err)
	}
}
