// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// found is what the page of a tee gets.
type found struct {
	Tee     string
	Shadows []struct {
		Shadow string
		tally.Table
	}
}

// differences returns what the tee of a site has found.
func differences(t testing.TB, addr string) (f found) {
	t.Helper()
	_, body := get(t, oneShot, "http://"+addr+"/_tee/live.json")
	if err := json.Unmarshal([]byte(body), &f); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return f
}

// table waits until so many pairs of the tee's shadow are compared, or comparedInPart
// with a reason for which they are not.
func table(t testing.TB, addr string, n int64) *tally.Table {
	t.Helper()
	var last *tally.Table
	eventually(t, fmt.Sprintf("%d pairs", n), func() (string, bool) {
		f := differences(t, addr)
		if len(f.Shadows) == 0 {
			return "no shadow was compared", n == 0
		}
		last = &f.Shadows[0].Table
		sum := last.Pairs + last.Unequal
		for reason, of := range last.Partial {
			if !comparedInPart[reason] {
				sum += of
			}
		}
		return fmt.Sprintf("%d of them, %v", sum, last.Partial), sum >= n
	})
	return last
}

// comparedInPart are the reasons of pairs that are comparedInPart as compared, too.
var comparedInPart = map[string]bool{
	"truncated": true, "too_large": true, "bad_encoding": true, "too_deep": true, "too_many": true, "broken_off": true, "status_class": true,
}

// fields are the rows of a table in short.
func fields(of *tally.Table) (list []string) {
	for _, row := range of.Rows {
		list = append(list, fmt.Sprintf("%s %s %s %s: %s → %s", row.Endpoint, row.Class, row.Kind, row.Field, row.Old, row.New))
	}
	return list
}

func hasRow(t testing.TB, of *tally.Table, want string) *tally.Row {
	t.Helper()
	for i, row := range fields(of) {
		if strings.HasPrefix(row, want) {
			return &of.Rows[i]
		}
	}
	t.Errorf("no row %q in %q", want, fields(of))
	return nil
}

// sayJSON answers with JSON.
func sayJSON(format string, values ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, format, values...)
	}
}

func TestCompared(t *testing.T) {
	primary := newUpstream(t, sayJSON(`{"price":100,"name":"a"}`))
	shadow := newUpstream(t, sayJSON(`{"name":"a","price":110}`))
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "compare\nadmin")
	})
	for i := range 20 {
		if status, body := get(t, oneShot, fmt.Sprintf("http://%s/items/%d", addr, i)); status != 200 || body != `{"price":100,"name":"a"}` {
			t.Fatalf("got %d %s", status, body)
		}
	}
	found := table(t, addr, 20)
	row := hasRow(t, found, "GET /items/* differs changed $.price: 100 → 110")
	if len(found.Rows) != 1 || found.Pairs != 20 || row.Differing != 20 || row.ID == "" {
		t.Errorf("got %d pairs, %q, %+v", found.Pairs, fields(found), row)
	}
	if found.Latency.Pairs != 20 {
		t.Errorf("latency of %d pairs", found.Latency.Pairs)
	}
}

// TestComparedHandlers has a shadow made of handlers, whose responses net/http
// would have completed.
func TestComparedHandlers(t *testing.T) {
	_, addr := run(t, func(addr string) string {
		return site(addr, `tee {
			name `+teeName(t)+`
			compare
			admin
			handle {
				header X-Version 2
				respond /same "<html>same</html>"
				respond "other" 404
			}
		}
		header X-Version 1
		respond /same "<html>same</html>"
		respond "one" 200`)
	})
	for _, path := range []string{"/same", "/other"} {
		get(t, oneShot, "http://"+addr+path)
	}
	found := table(t, addr, 2)
	hasRow(t, found, "GET /same differs changed header X-Version: 1 → 2")
	hasRow(t, found, "GET /other differs changed status: 200 → 404")
	if len(found.Rows) != 3 {
		t.Errorf("got %q", fields(found))
	}
}

// TestComparedByBody has a request whose copy leaves only when its body is there,
// and one whose copy leaves when the response is over.
func TestComparedByBody(t *testing.T) {
	echo := func(suffix string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"at":%q}`, r.URL.Path+suffix)
		}
	}
	for _, only := range []string{"", "only_status 2xx"} {
		t.Run(only, func(t *testing.T) {
			primary, shadow := newUpstream(t, echo("")), newUpstream(t, echo("2"))
			_, addr := run(t, func(addr string) string {
				return teeSite(t, addr, primary.addr(), shadow.addr(), "compare\nadmin\n"+only)
			})
			post(t, oneShot, "http://"+addr+"/a", strings.NewReader(strings.Repeat("x", 100_000)))
			hasRow(t, table(t, addr, 1), "POST /a differs changed $.at: \"/a\" → \"/a2\"")
		})
	}
}

// TestNotCompared counts what cannot be compared, by its reason.
func TestNotCompared(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/abort":
			io.WriteString(w, "begun")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/lineage":
			w.Header().Set("X-Lineage", r.Header.Get("X-Rehearsal-Copy")) // only the shadow has it
		}
		io.WriteString(w, "hello")
	}
	primary, shadow := newUpstream(t, answer), newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			<-r.Context().Done()
		}
		answer(w, r)
	})
	primary.Config.ErrorLog, shadow.Config.ErrorLog = quiet(), quiet()
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "timeout 300ms\nadmin\ncompare {\nrequire_equal X-Lineage\n}")
	})
	for _, path := range []string{"/late", "/lineage", "/fine"} {
		get(t, oneShot, "http://"+addr+path)
	}
	if resp, err := oneShot.Get("http://" + addr + "/abort"); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	found := table(t, addr, 4)
	if found.Pairs != 1 || found.Unequal != 1 || found.Partial["timed_out"] != 1 || found.Partial[reasonPrimary] != 1 || len(found.Rows) != 0 {
		t.Errorf("got %d pairs, %d unequal, %v, %q", found.Pairs, found.Unequal, found.Partial, fields(found))
	}
}
