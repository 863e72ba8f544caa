// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestRecipeAPI walks through the API as users of origin_simulator do.
func TestRecipeAPI(t *testing.T) {
	_, url := serve(t, "simulator {\n admin\n}")
	api := url + "/_admin"
	const notSet = "Recipe not set, please POST a recipe to /_admin/add_recipe"
	const recipe = `{"route":"/a","body":"<<5b>>","stages":[{"at":0,"status":503,"latency":"1ms"},{"at":"1h","status":200,"latency":0}]}`
	const second = `{"route":"/*","body":"all","stages":[{"at":0,"status":200,"latency":"1ms..2ms"}]}`
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/_admin/status", "", 200, "ok!"},
		{"GET", "/_admin/current_recipe", "", 200, `"` + notSet + `"`},
		{"GET", "/_admin/routes", "", 200, "/*"},
		{"GET", "/_admin/routes_status", "", 200, "/* 406 0"},
		{"GET", "/_admin/current_count", "", 200, `{"routes":{},"total_requests":0}`},
		{"GET", "/any", "", 406, "Recipe not set at /any, please POST a recipe for this route to /_admin/add_recipe"},
		{"POST", "/_admin/add_recipe", recipe, 201, "[" + recipe + "]"},
		{"GET", "/a", "", 503, "Error 503"},
		{"GET", "/b", "", 406, "Recipe not set at /b, please POST a recipe for this route to /_admin/add_recipe"},
		{"POST", "/_admin/add_recipe", "[" + second + "]", 201, "[" + second + "," + recipe + "]"},
		{"POST", "/b", "", 200, "all"},
		{"GET", "/_admin/current_recipe", "", 200, "[" + second + "," + recipe + "]"},
		{"GET", "/_admin/routes", "", 200, "/*\n/a"},
		{"GET", "/_admin/routes_status", "", 200, "/* 200 1ms..2ms\n/a 503 1"},
		{"GET", "/_admin/current_count", "", 200, `{"200":1,"406":2,"503":1,"routes":{"/*":{"200":1,"total_requests":1},"/a":{"503":1,"total_requests":1}},"total_requests":4}`},
		{"GET", "/_admin/clear_current_count", "", 200, `{"cleared": "yes"}`},
		{"GET", "/_admin/current_count", "", 200, `{"routes":{"/*":{"total_requests":0},"/a":{"total_requests":0}},"total_requests":0}`},
		{"GET", "/_admin/add_recipe", "", 405, "Method not allowed"},
		{"POST", "/_admin/status", "", 405, "Method not allowed"},
		{"GET", "/_admin/other", "", 404, "Not found"},
		{"GET", "/_administrator", "", 200, "all"},
		{"POST", "/_admin/restart", "", 200, "ok!"},
		{"GET", "/a", "", 406, "Recipe not set at /a, please POST a recipe for this route to /_admin/add_recipe"},
	} {
		req, err := http.NewRequest(step.method, url+step.path, strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if status, body := read(t, resp); status != step.status || body != step.want {
			t.Errorf("%s %s: got %d %s\nwant %d %s", step.method, step.path, status, body, step.status, step.want)
		}
	}
	for path, want := range map[string]string{"/status": "text/plain; charset=utf-8", "/current_recipe": "application/json; charset=utf-8"} {
		resp, err := http.Get(api + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Type"); got != want {
			t.Errorf("%s: got type %s", path, got)
		}
		resp.Body.Close()
	}
}

// numbered repeats a pattern with the numbers from 0.
func numbered(n int, pattern string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(pattern, i)
	}
	return strings.Join(list, ",")
}

// TestBadRecipesChangeNothing holds that the answer is JSON which names the
// field, and that what runs goes on.
func TestBadRecipesChangeNothing(t *testing.T) {
	_, url := serve(t, "simulator {\n body old\n stage 0 200\n admin\n}")
	for _, tc := range []struct {
		body, field string
		status      int
	}{
		{`{"stages":[{"at":0,"latency":"fast"}]}`, "stages[0].latency", 400},
		{`[{"stages":[{}]},{"stages":[{"status":99}]}]`, "recipes[1].stages[0].status", 400},
		{`{"body":"x","stages":[{"at"`, "stages[0].at", 400},
		{strings.Repeat("[", 5<<20), "recipes[0]", 400},
		{`{"body_file":"/etc/passwd","stages":[{}]}`, "body_file", 400},
		{`{"stages":[{"outcomes":[{"percent":1,"body_file":"/etc/passwd"},{}]}]}`, "stages[0].outcomes[0].body_file", 400},
		{`{"origin":"http://127.0.0.1:1/","stages":[{}]}`, "origin", 400},
		{strings.Repeat(" ", mostPosted+1), "", 413},
		{`{"stages":[` + numbered(10000, `{"at":%d,"body":"<<64mb>>"}`) + `]}`, "stages[8].body", 400},
		{"[" + numbered(10000, `{"route":"/%d","body":"<<64mb>>","stages":[{}]}`) + "]", "recipes[7].body", 400},
	} {
		status, body := post(t, url+"/_admin/add_recipe", tc.body)
		var problem struct{ Error, Field string }
		if err := json.Unmarshal([]byte(body), &problem); err != nil {
			t.Errorf("%.50s: got %.200s", tc.body, body)
		}
		if status != tc.status || problem.Field != tc.field || problem.Error == "" {
			t.Errorf("%.50s: got %d %+v", tc.body, status, problem)
		}
		if _, body := get(t, url+"/"); body != "old" {
			t.Errorf("%.50s: what runs became %q", tc.body, body)
		}
	}
}

// TestAPIIsOffUnlessAsked holds for its default path, also beside another one.
func TestAPIIsOffUnlessAsked(t *testing.T) {
	none, other := caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, site(none, "simulator {\n stage 0 204\n}")+site(other, "simulator {\n stage 0 204\n admin /control/here\n}"))
	wantStatus(t, "http://"+none+"/_admin/status", 204)
	wantStatus(t, "http://"+other+"/_admin/status", 204)
	wantStatus(t, "http://"+other+"/control/here/status", 200)
}

// TestHintWithoutAnAPI holds that a client is not sent where nothing is.
func TestHintWithoutAnAPI(t *testing.T) {
	_, url := serve(t, "simulator {\n name hinted\n}")
	if status, body := get(t, url+"/x"); status != 406 || body != "Recipe not set at /x, please POST a recipe for this route to /rehearsal/simulators/hinted/recipes of Caddy's admin API" {
		t.Errorf("got %d %s", status, body)
	}
}
