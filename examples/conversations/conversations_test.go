// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package conversations tests the example as it stands in its folder.
package conversations

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// TestExample sends what README.md does and reads the one record that it makes.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	shop, service, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	caddytest.Run(t, strings.NewReplacer(
		":8080", "http://"+shop, ":9000", "http://"+service, "127.0.0.1:9000", service, "record recordings", "record "+dir,
	).Replace(string(text)))
	order(t, "http://"+shop+"/orders?token=t1", "alice", `{"sku": "kettle"}`)
	order(t, "http://"+shop+"/orders?token=t1", "user5", `{"sku": "teapot", "card": {"number": "4111"}}`)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if hold(t, dir) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}
}

// order sends an order of a user.
func order(t *testing.T, url, session, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.AddCookie(&http.Cookie{Name: "session", Value: session})
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusCreated || string(got) != `{"order": 1, "card": {"number": "4111"}}` {
		t.Fatalf("client got %s %q, error %v", resp.Status, got, err)
	}
}

// hold reports whether the record is there, and holds it to what it should be.
func hold(t *testing.T, dir string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "requests_*"))
	if err != nil || len(names) == 0 {
		return false
	}
	file, err := recording.OpenFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := file.Next()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if string(r.URI) != "/orders?token=REDACTED" || string(r.Body) != `{"sku": "teapot", "card": {"number": "REDACTED"}}` ||
		!strings.Contains(string(r.Headers), "Cookie: REDACTED\r\n") {
		t.Errorf("recorded is %s with %s and %s", r.URI, r.Headers, r.Body)
	}
	a := r.Response
	if a == nil || a.Status != http.StatusCreated || string(a.Body) != `{"order": 1, "card": {"number": "REDACTED"}}` ||
		!strings.Contains(string(a.Headers), "Set-Cookie: REDACTED\r\n") || len(a.Error) > 0 {
		t.Errorf("recorded is the response %+v", a)
	}
	return true
}
