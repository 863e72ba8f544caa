// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileShadows has a shadow respond with what nothing should be bloated or
// wedged by, while clients get what the primary says.
func TestHostileShadows(t *testing.T) {
	zeros := make([]byte, 1<<20)
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	for range 20 { // more than the 16 MiB that are unpacked
		_, _ = packed.Write(zeros)
	}
	packed.Close()
	bodies := map[string]func(w http.ResponseWriter){
		"/endless": func(w http.ResponseWriter) {
			for range 10 << 10 {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		},
		"/bomb": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"/deep": func(w http.ResponseWriter) {
			io.WriteString(w, strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000))
		},
		"/invalid": func(w http.ResponseWriter) { io.WriteString(w, "{\"a\":\"\xff\xfe\"}") },
		"/html": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
		},
		"/keys": func(w http.ResponseWriter) {
			io.WriteString(w, "{")
			for i := range 1_000_000 {
				fmt.Fprintf(w, `"%d":1,`, i)
			}
			io.WriteString(w, `"a":1}`)
		},
		"/none": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
	}
	const right = `{"a":1}`
	primary := newUpstream(t, sayJSON(right))
	shadow := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		bodies[r.URL.Path](w)
	})
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "timeout 1m\nadmin\ncompare {\nmax_body 16MiB\n}")
	})
	for path := range bodies {
		if status, body := get(t, oneShot, "http://"+addr+path); status != 200 || body != right {
			t.Errorf("%s: the client got %d %.50s", path, status, body)
		}
	}
	found := table(t, addr, int64(len(bodies)))
	if found.Pairs != int64(len(bodies)) {
		t.Errorf("%d pairs of %d: %v", found.Pairs, len(bodies), found.Partial)
	}
	hasRow(t, found, "GET /html differs type body: JSON")
	hasRow(t, found, "GET /none differs changed status: 200 → 204")
	for _, reason := range []string{"truncated", "too_large", "too_deep", "too_many"} {
		if found.Partial[reason] == 0 {
			t.Errorf("nothing is %s: %v", reason, found.Partial)
		}
	}
}

// TestReloadKeepsCounts holds that counts go on across a reload, begin at zero
// where compare has changed, and that two tees of one name agree.
func TestReloadKeepsCounts(t *testing.T) {
	primary, shadow := newUpstream(t, sayJSON(`{"a":1}`)), newUpstream(t, sayJSON(`{"a":2}`))
	config := func(addr, compare, more string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), compare+"\nadmin\n"+more)
	}
	server, addr := run(t, func(addr string) string { return config(addr, "compare", "") })
	get(t, oneShot, "http://"+addr+"/")
	table(t, addr, 1)
	server.Reload(config(addr, "compare", "queue 5"))
	get(t, oneShot, "http://"+addr+"/")
	if found := table(t, addr, 2); found.Pairs != 2 {
		t.Errorf("%d pairs after a reload, want 2", found.Pairs)
	}
	server.Reload(config(addr, "compare {\nignore_json $.a\n}", ""))
	get(t, oneShot, "http://"+addr+"/")
	if found := table(t, addr, 1); found.Pairs != 1 || len(found.Rows) != 0 || found.Ignored == 0 {
		t.Errorf("%d pairs, %q, %d ignored", found.Pairs, fields(found), found.Ignored)
	}
	if !strings.Contains(server.Logs(), "counts of differences begin at zero") {
		t.Error("the log does not say so")
	}
	if status, body := post(t, oneShot, "http://"+addr+"/_tee/reset", nil); status != 200 {
		t.Errorf("got %d %s", status, body)
	}
	if len(differences(t, addr).Shadows) != 0 {
		t.Error("a reset leaves counts")
	}
	other := fmt.Sprintf("tee %s {\nname %s\ncompare\n}\n", shadow.addr(), teeName(t))
	err := server.TryReload(strings.Replace(config(addr, "compare {\nignore_json $.a\n}", ""), "reverse_proxy", other+"reverse_proxy", 1))
	if err == nil || !strings.Contains(err.Error(), "two tees with different options of compare are called") {
		t.Errorf("got error %v", err)
	}
}

// TestNoiseAndSaving has a twin that differs as the primary does from itself, and
// saves what differs beyond.
func TestNoiseAndSaving(t *testing.T) {
	primary, twin := newUpstream(t, sayJSON(`{"a":1,"trace":1}`)), newUpstream(t, sayJSON(`{"a":1,"trace":2}`))
	shadow := newUpstream(t, sayJSON(`{"a":2,"trace":3}`))
	dir := t.TempDir()
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "admin\ncompare {\nnoise "+twin.addr()+"\nsave "+dir+" {\nflush_every 10ms\n}\n}")
	})
	for i := range 20 {
		get(t, oneShot, fmt.Sprintf("http://%s/?i=%d", addr, i))
	}
	found := table(t, addr, 20)
	hasRow(t, found, "GET / noise changed $.trace: 1 → 3")
	row := hasRow(t, found, "GET / proved changed $.a: 1 → 2")
	if _, body := get(t, oneShot, "http://"+addr+"/_tee/example.json?id="+row.ID); !strings.Contains(body, `"line":"GET /?i=`) {
		t.Errorf("the example is %s", body)
	}
	eventually(t, "saved pairs", func() (string, bool) {
		old, _ := filepath.Glob(filepath.Join(dir, "old", "*"))
		fresh, _ := filepath.Glob(filepath.Join(dir, "new", "*"))
		return fmt.Sprint(old, fresh), len(old) > 0 && len(fresh) > 0
	})
}
