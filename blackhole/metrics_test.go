// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// scrape returns the metrics of blackholes, by name and labels. Like post it tries
// again when the listener of an old configuration was closed.
func scrape(t testing.TB, addr string) map[string]float64 {
	t.Helper()
	var text []byte
	eventually(t, "the metrics", func() bool {
		resp, err := client.Get("http://" + addr + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, err = io.ReadAll(resp.Body)
		return err == nil
	})
	all := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if name, ok := strings.CutPrefix(name, "caddy_blackhole_"); ok {
			if _, twice := all[name]; twice {
				t.Errorf("%s is there twice", name)
			}
			all[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return all
}

func TestMetricsCountOnAcrossReloads(t *testing.T) {
	dir := t.TempDir()
	metered, silent := uniqueName(), uniqueName()
	addr, other, scraped := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	config := func(i int) string {
		return site(addr, fmt.Sprintf("header X-Reload %d\nblackhole {\nname %s\nrecord %s {\nflush_every 10ms\nrotate_size 5KB\n}\n}", i, metered, dir)) +
			site(other, "blackhole {\nname "+silent+"\n}") + site(scraped, "metrics")
	}
	s := caddytest.Run(t, config(0))
	for i := range 4 {
		post(t, "http://"+addr+"/", strings.Repeat("order ", 500))
		post(t, "http://"+other+"/", "x")
		s.Reload(config(i + 1))
	}
	var got map[string]float64
	eventually(t, "all counted", func() bool {
		got = scrape(t, scraped)
		return got[label("records_total", metered)] == 4 && got[label("waiting_bytes", metered)] == 0 && got[label("lag_seconds", metered)] == 0
	})
	for name, want := range map[string]float64{
		label("requests_total", metered): 4, label("requests_total", silent): 4,
		label("waiting_bytes", metered): 0, label("lag_seconds", metered): 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s: got %v, want %v", name, value, want)
		}
	}
	raw, disk := got[label("bytes_total", metered, "kind", "raw")], got[label("bytes_total", metered, "kind", "disk")]
	var stored int64
	for _, file := range files(t, dir) {
		stored += size(t, file)
	}
	if raw < 12_000 || int64(disk) != stored || disk > raw/2 {
		t.Errorf("got %v bytes raw, %v on disk, where %d are", raw, disk, stored)
	}
}

// label returns name and labels of a metric, written as scrape has them.
func label(metric, blackhole string, more ...string) string {
	text := metric + `{blackhole="` + blackhole + `"`
	for i := 0; i < len(more); i += 2 {
		text += "," + more[i] + `="` + more[i+1] + `"`
	}
	return text
}

// TestFailuresAreCountedAndLoggedAndReachNoClient takes the directory away.
func TestFailuresAreCountedAndLoggedAndReachNoClient(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recordings")
	failing := uniqueName()
	addr, scraped := caddytest.Addr(t), caddytest.Addr(t)
	s := caddytest.Run(t, site(addr, "blackhole {\nname "+failing+"\nrecord "+dir+" {\nflush_every 10ms\n}\n}")+site(scraped, "metrics"))
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // where the directory was to be
		t.Fatal(err)
	}
	for i := range 20 {
		if status, _ := post(t, "http://"+addr+"/", "x"); status != 200 {
			t.Errorf("got status %d", status)
		}
		eventually(t, "the failure is counted", func() bool {
			return scrape(t, scraped)[label("dropped_total", failing, "reason", "write")] == float64(i+1)
		})
	}
	if got := scrape(t, scraped)[label("errors_total", failing, "operation", "create")]; got != 20 {
		t.Errorf("got %v errors", got)
	}
	entry := `"msg":"recording failed","blackhole":"` + failing + `","operation":"create","error":"mkdir ` + dir + `: not a directory"`
	if got := strings.Count(s.Logs(), entry); got != 1 {
		t.Errorf("got %d entries within a minute in the log\n%s", got, s.Logs())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	post(t, "http://"+addr+"/", "again")
	stop(t)
	if got := one(t, dir); got.body != "again" {
		t.Errorf("got %+v", got)
	}
}
