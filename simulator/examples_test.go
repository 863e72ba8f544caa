// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// TestExampleRecipes runs every example as a file, as a Caddyfile, posted and
// through the adapter, and holds that all of them do the same.
func TestExampleRecipes(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "page "+r.URL.Path)
	}))
	defer origin.Close()
	files, err := filepath.Glob("../examples/recipes/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			recipes := hurry(readExample(t, file, "https://example.com", origin.URL))
			list, err := recipe.Parse([]byte(recipes))
			if err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "recipe.json")
			if err := os.WriteFile(copied, []byte(recipes), 0o600); err != nil {
				t.Fatal(err)
			}
			s := caddytest.Run(t, "{\n}")
			// each way has an address of its own, so that no old server answers
			where := func() (addr, url string) { addr = caddytest.Addr(t); return addr, "http://" + addr }

			addr, url := where()
			s.Reload(site(addr, "simulator * "+copied+" {\n admin\n}"))
			want := outcomes(t, url, list)

			addr, url = where()
			s.Reload(site(addr, "simulator {\n admin\n}"))
			for _, posted := range []string{recipes, "[" + strings.Trim(strings.TrimSpace(recipes), "[]") + "]"} {
				if status, body := post(t, url+"/_admin/add_recipe", posted); status != 201 {
					t.Fatalf("posting: got %d %s", status, body)
				}
				compare(t, "posted", outcomes(t, url, list), want)
			}

			_, url = where()
			s.Reload(hurry(readExample(t, strings.TrimSuffix(file, ".json")+".Caddyfile", "https://example.com", origin.URL, ":8080", url)))
			compare(t, "as a Caddyfile", outcomes(t, url, list), want)

			addr, url = where()
			config, _, err := recipeAdapter{}.Adapt([]byte(fmt.Sprintf(`{"listen":%q,"recipes":%s}`, addr, recipes)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.LoadJSON(config); err != nil {
				t.Fatal(err)
			}
			compare(t, "adapted", outcomes(t, url, list), want)
		})
	}
}

func readExample(t *testing.T, file string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

var latencies = regexp.MustCompile(`("latency": "|stage \S+ \d+ )[^"\s]+`)

// hurry makes the latencies of an example short.
func hurry(example string) string { return latencies.ReplaceAllString(example, "${1}1ms") }

// TestExamplesSayTheSame compares each JSON example with its Caddyfile.
func TestExamplesSayTheSame(t *testing.T) {
	files, _ := filepath.Glob("../examples/recipes/*.json")
	for _, file := range append(files, "../examples/outcomes/outcomes.json") {
		asJSON, err := recipe.Parse([]byte(readExample(t, file)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		lines := readExample(t, strings.TrimSuffix(file, ".json")+".Caddyfile")
		d := caddyfile.NewTestDispenser(lines[strings.Index(lines, "simulator"):strings.LastIndex(lines, "}")])
		var h Handler
		if err := h.UnmarshalCaddyfile(d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(h.Recipes) != len(asJSON) {
			t.Fatalf("%s: %d and %d recipes", file, len(h.Recipes), len(asJSON))
		}
		for i, a := range asJSON {
			b := h.Recipes[i]
			left, err := json.Marshal([]any{a.Route, a.Origin, a.Body, a.RandomContent, a.Headers, a.Stages})
			if err != nil {
				t.Fatal(err)
			}
			if right, err := json.Marshal([]any{b.Route, b.Origin, b.Body, b.RandomContent, b.Headers, b.Stages}); string(left) != string(right) {
				t.Errorf("%s: got %s and %s, error %v", file, left, right, err)
			}
		}
	}
}

// outcomes returns what the routes of recipes answer, without what is random.
func outcomes(t *testing.T, url string, list recipe.List) []string {
	t.Helper()
	var got []string
	for _, r := range list {
		path := strings.Replace(r.Route, "*", "/more", 1)
		if r.Origin != "" {
			eventually(t, func() bool { status, _ := get(t, url+path); return status != http.StatusBadGateway })
		}
		req, _ := http.NewRequest(http.MethodGet, url+path, nil)
		req.Header.Set("Accept-Encoding", "identity")
		resp := insist(t, func() (*http.Response, error) { return http.DefaultClient.Do(req) })
		status, body := read(t, resp)
		length := len(body)
		if resp.Header.Get("Content-Encoding") == "gzip" {
			length = 0 // random text compresses to different lengths
		}
		resp.Header.Del("Date")
		resp.Header.Del("Content-Length")
		got = append(got, fmt.Sprintf("%s: %d, %d bytes, %v", path, status, length, resp.Header))
	}
	return got
}

func compare(t *testing.T, how string, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: got %s\nwant %s", how, got[i], want[i])
		}
	}
}

// TestQuickstart holds that the example is valid as it stands.
func TestQuickstart(t *testing.T) {
	if err := caddytest.Validate(readExample(t, "../examples/quickstart/Caddyfile")); err != nil {
		t.Error(err)
	}
}
