// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// record returns the folder of a recording of so many users, through the
// example's Caddyfile with more options of record.
func record(t *testing.T, users int, options string) string {
	t.Helper()
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newShop("the recorded one"))
	defer server.Close()
	site, dir := "http://"+caddytest.Addr(t), t.TempDir()
	caddytest.Run(t, strings.NewReplacer(
		"admin localhost:2020", "admin off", ":8080", site, "127.0.0.1:9000", server.Listener.Addr().String(), "record recordings", "record "+dir+options,
	).Replace(string(text)))
	if all := visitAll(site, users, 1, 0); all.err != nil || all.failed > 0 {
		t.Fatalf("%d of %d requests failed: %v", all.failed, all.requests, all.err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		unfinished, _ := filepath.Glob(filepath.Join(dir, "*.tmp"))
		if finished, _ := filepath.Glob(filepath.Join(dir, "*.lz4")); len(finished) > 0 && len(unfinished) == 0 {
			return dir
		}
		if time.Now().After(deadline) {
			t.Fatal("the recording is never finished")
		}
	}
}

// links returns the links that the command finds, and what it printed.
func links(t *testing.T, args ...string) (found []string, printed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "links.json")
	out, err := caddytest.Command(t, append([]string{"replay", "links", "-o", file}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := conversation.ParseFile(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range read.Links {
		found = append(found, link.Consumer.String()+" ← "+link.Producer.String())
	}
	return found, string(out)
}

// wanted are all the links of the shop.
var wanted = []string{
	"GET /api/points bearer ← POST /api/token json $.token",
	"GET /api/points cookie session ← POST /login cookie session",
	"GET /carts/* path 2 ← POST /carts json $.cart",
	"GET /carts/* cookie session ← POST /login cookie session",
	"GET /catalog cookie session ← POST /login cookie session",
	"GET /orders/* path 2 ← POST /orders redirect path 2",
	"GET /orders/* cookie session ← POST /login cookie session",
	"POST /api/token cookie session ← POST /login cookie session",
	"POST /carts cookie session ← POST /login cookie session",
	"POST /carts/*/items path 2 ← POST /carts json $.cart",
	"POST /carts/*/items cookie session ← POST /login cookie session",
	"POST /orders form cart ← POST /carts json $.cart",
	"POST /orders form csrf ← GET /carts/* html input csrf",
	"POST /orders cookie session ← POST /login cookie session",
}

// TestLinksOfAHundredUsers wants all links that are needed, and none by
// coincidence: carts have the same ids now and then.
func TestLinksOfAHundredUsers(t *testing.T) {
	dir := record(t, 100, "")
	for _, args := range [][]string{{dir}, {"--session", "cookie session", dir}} {
		found, printed := links(t, args...)
		if !slices.Equal(found, wanted) || !strings.HasPrefix(printed, "100 sessions, named by cookie session") {
			t.Errorf("%v: got\n%s\n%s", args, strings.Join(found, "\n"), printed)
		}
	}
}

// TestLinksOfARedactedRecording hashes what is secret, in all its places.
func TestLinksOfARedactedRecording(t *testing.T) {
	dir := record(t, 30, ` {
			redact_hash Authorization Cookie Set-Cookie X-Client-Id
			redact_json_hash $.token $.api_key
			redact_query_hash user password
		}`)
	found, printed := links(t, dir)
	if !slices.Equal(found, wanted) || !strings.HasPrefix(printed, "30 sessions, named by cookie session") {
		t.Errorf("got\n%s\n%s", strings.Join(found, "\n"), printed)
	}
	if strings.Contains(printed, "user-1") || strings.Contains(printed, "eyJ") {
		t.Errorf("there is a secret left:\n%s", printed)
	}
}

func TestLinksOfOneUser(t *testing.T) {
	found, printed := links(t, record(t, 1, ""))
	needsMany := func(link string) bool { return strings.HasSuffix(link, "json $.cart") }
	for _, link := range wanted {
		if slices.Contains(found, link) == needsMany(link) {
			t.Errorf("%s: found is %v", link, !needsMany(link))
		}
	}
	if !strings.Contains(printed, "fewer than 10 sessions have both") || strings.Count(printed, "json $.cart") != 3 {
		t.Errorf("the report does not say why the carts are not linked:\n%s", printed)
	}
}
