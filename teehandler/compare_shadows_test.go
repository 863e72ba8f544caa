// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// comparedAt waits until the tee of a site has so many pairs, compared or not, and
// returns what it has found.
func comparedAt(t *testing.T, addr string, n int64) *tally.Table {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var found struct{ Shadows []tally.Table }
		text := visit(t, addr+"/_tee/live.json")
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			t.Fatal(err)
		}
		if len(found.Shadows) == 1 {
			sum := found.Shadows[0].Pairs
			for _, reason := range []string{"failed_handler", "failed_receive", "failed_panic"} {
				sum += found.Shadows[0].Partial[reason]
			}
			if sum >= n {
				return &found.Shadows[0]
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("found is %s", text)
		}
	}
}

// foundBy returns the fields that differ, by endpoint.
func foundBy(table *tally.Table) (fields []string) {
	for _, row := range table.Rows {
		fields = append(fields, fmt.Sprintf("%s %s: %s → %s", row.Endpoint, row.Field, row.Old, row.New))
	}
	slices.Sort(fields)
	return fields
}

// TestComparedWithAnExpressBlackhole has a blackhole that takes over the tee's
// connections respond as the primary does, but for one line.
func TestComparedWithAnExpressBlackhole(t *testing.T) {
	addr, shadow := caddytest.Addr(t), caddytest.Addr(t)
	server := caddytest.Run(t, fmt.Sprintf(`http://%s {
	tee http://%s {
		name beside_express
		timeout 20s
		compare
		admin
	}
	header Content-Type text/plain
	respond "first
second"
}
http://%s {
	blackhole {
		express
		header Content-Type text/plain
		body "first
third"
	}
}
`, addr, shadow, shadow))
	const requests = 20
	for i := range requests {
		if got := visit(t, fmt.Sprintf("%s/items/%d", addr, i)); got != "first\nsecond" {
			t.Fatalf("client got %q", got)
		}
	}
	table := comparedAt(t, addr, requests)
	if got := foundBy(table); !slices.Equal(got, []string{"GET /items/* line 2: second → third"}) || table.Rows[0].Differing != requests || len(table.Partial) > 0 {
		t.Errorf("found is %q of %+v", got, table)
	}
	if strings.Contains(server.Logs(), "express takes no connection over") {
		t.Error("the blackhole is no express one")
	}
}

// TestComparedWithAResetOverHTTP2 has a shadow of HTTP/2 reset its streams, before
// its response and within the body.
func TestComparedWithAResetOverHTTP2(t *testing.T) {
	shadow := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the shadow got %s", r.Proto)
		}
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path != "/before" {
			_, _ = io.WriteString(w, "who")
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path != "/whole" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "le")
	}))
	shadow.Config.Protocols = new(http.Protocols)
	shadow.Config.Protocols.SetUnencryptedHTTP2(true)
	shadow.Start()
	t.Cleanup(shadow.Close)
	addr := caddytest.Addr(t)
	caddytest.Run(t, fmt.Sprintf(`http://%s {
	tee {
		name reset_over_http2
		timeout 20s
		handle {
			reverse_proxy h2c://%s
		}
		compare
		admin
	}
	header Content-Type text/plain
	respond whole
}
`, addr, shadow.Listener.Addr()))
	for _, path := range []string{"/before", "/within", "/whole"} {
		if got := visit(t, addr+path); got != "whole" {
			t.Errorf("%s: client got %q", path, got)
		}
	}
	table := comparedAt(t, addr, 3)
	if got := foundBy(table); !slices.Equal(got, []string{"GET /within error: – → cut off"}) || table.Pairs != 2 || table.Partial["failed_handler"] != 1 {
		t.Errorf("found is %q of %+v", got, table)
	}
}

// TestValidateOfACompare holds that `caddy validate` asks nobody and makes nothing.
func TestValidateOfACompare(t *testing.T) {
	var asked atomic.Int64
	shadow := httptest.NewUnstartedServer(http.NotFoundHandler())
	shadow.Config.ConnState = func(net.Conn, http.ConnState) { asked.Add(1) }
	shadow.Start()
	t.Cleanup(shadow.Close)
	dir := t.TempDir()
	text := fmt.Sprintf("http://%s {\n\ttee %s {\n\t\tcompare {\n\t\t\tnoise %s\n\t\t\tsave pairs\n\t\t}\n\t\tadmin\n\t}\n\trespond ok\n}\n",
		caddytest.Addr(t), shadow.URL, shadow.URL)
	if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	validate := caddytest.Command(t, "validate")
	validate.Dir = dir
	out, err := validate.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Valid configuration") {
		t.Errorf("%v: %s", err, out)
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*")); len(made) != 1 || asked.Load() > 0 {
		t.Errorf("the folder has %q, and %d times something became of a connection to a shadow", made, asked.Load())
	}
}
