// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// ask sends a request without a body to Caddy's admin API.
func ask(t testing.TB, method, url string) (status int, allow, body string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := oneShot.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	allow = resp.Header.Get("Allow")
	status, body = drain(t, resp)
	return status, allow, body
}

// TestTeesInAdminAPI holds what Caddy's admin API has of a tee that compares, and
// what it refuses.
func TestTeesInAdminAPI(t *testing.T) {
	primary, shadow := newUpstream(t, sayJSON(`{"a":1}`)), newUpstream(t, sayJSON(`{"a":2}`))
	admin, name := caddytest.Addr(t), teeName(t)
	_, addr := run(t, func(addr string) string {
		return "{\nadmin " + admin + "\n}\n" + teeSite(t, addr, primary.addr(), shadow.addr(), "compare\nadmin")
	})
	get(t, oneShot, "http://"+addr+"/items/1")
	table(t, addr, 1)
	line := fmt.Sprintf(`"shadows":[{"shadow":%q,"pairs":1,"diffs":1,"unconfirmed":0}]`, shadow.addr())
	none := fmt.Sprintf(`{"tee":%q,"since":`, name)
	for _, step := range []struct {
		method, path string
		status       int
		allow        string
		want         []string
	}{
		{"GET", "", 200, "", []string{`[{"tee":"` + name + `"`, line}},
		{"GET", "/" + name + "/differences", 200, "", []string{none, `"field":"$.a"`, `"endpoint":"GET /items/*"`, `"old":"1"`, `"new":"2"`}},
		{"POST", "", 405, "GET", []string{"method not allowed"}},
		{"POST", "/" + name + "/differences", 405, "GET", []string{"method not allowed"}},
		{"GET", "/" + name + "/reset", 405, "POST", []string{"method not allowed"}},
		{"GET", "/none/differences", 404, "", []string{"there is no tee 'none' that compares"}},
		{"POST", "/none/reset", 404, "", []string{"there is no tee 'none' that compares"}},
		{"GET", "", 200, "", []string{line}}, // what was refused changed nothing
		{"POST", "/" + name + "/reset", 200, "", []string{none, `"shadows":[]`}},
		{"GET", "/" + name + "/differences", 200, "", []string{none, `"shadows":[]`}},
	} {
		status, allow, body := ask(t, step.method, "http://"+admin+"/rehearsal/tees"+step.path)
		if status != step.status || allow != step.allow {
			t.Errorf("%s %s: got %d, Allow %q, want %d, %q", step.method, step.path, status, allow, step.status, step.allow)
		}
		for _, want := range step.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s %s: no %s in %s", step.method, step.path, want, body)
			}
		}
	}
}

// TestMetricsOfComparisons has pairs of every result, and one that is not compared.
func TestMetricsOfComparisons(t *testing.T) {
	primary := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Lineage", "1")
		sayJSON(`{"a":1,"trace":1}`)(w, r)
	})
	twin := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Lineage", "1")
		sayJSON(`{"a":1,"trace":2}`)(w, r)
	})
	shadow := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		lineage, body := "1", `{"a":1,"trace":1}`
		switch r.URL.Path {
		case "/changed":
			body = `{"a":2,"trace":1}`
		case "/missing":
			body = `{"trace":1}`
		case "/noise":
			body = `{"a":1,"trace":3}`
		case "/unequal":
			lineage = "2"
		case "/late":
			<-r.Context().Done()
		}
		w.Header().Set("X-Lineage", lineage)
		sayJSON("%s", body)(w, r)
	})
	monitor := caddytest.Addr(t)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(),
			"timeout 5s\nadmin\ncompare {\nnoise "+twin.addr()+"\nrequire_equal X-Lineage\n}") + site(monitor, "metrics")
	})
	for _, path := range []string{"/equal", "/equal", "/equal", "/changed", "/missing", "/noise", "/unequal", "/late"} {
		get(t, oneShot, "http://"+addr+path)
	}
	labels := fmt.Sprintf("shadow=%q,tee=%q", shadow.addr(), teeName(t))
	want := []string{
		fmt.Sprintf("caddy_tee_compared_total{result=\"equal\",%s} 3\n", labels),
		fmt.Sprintf("caddy_tee_compared_total{result=\"different\",%s} 2\n", labels),
		fmt.Sprintf("caddy_tee_compared_total{result=\"noise\",%s} 1\n", labels),
		fmt.Sprintf("caddy_tee_compared_total{result=\"unequal\",%s} 1\n", labels),
		fmt.Sprintf("caddy_tee_compared_total{result=\"timed_out\",%s} 1\n", labels),
		fmt.Sprintf("caddy_tee_differences_total{kind=\"changed\",%s} 2\n", labels),
		fmt.Sprintf("caddy_tee_differences_total{kind=\"missing\",%s} 1\n", labels),
	}
	eventually(t, "the metrics", func() (string, bool) {
		_, text := get(t, oneShot, "http://"+monitor)
		var have strings.Builder
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "_copies_") && strings.Contains(line, labels+"} ") {
				have.WriteString(line)
			}
		}
		for _, line := range want {
			if !strings.Contains(text, line) {
				return "no " + line + have.String(), false
			}
		}
		return "", true
	})
}
