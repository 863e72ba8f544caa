// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestCaddysAdminIsNoOrigin holds that a recipe cannot have Caddy's own
// configuration served, also where a page redirects to it.
func TestCaddysAdminIsNoOrigin(t *testing.T) {
	admin, addr, other := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, fmt.Sprintf("{\n admin %s\n}\nhttp://%s {\n redir http://%s/config/\n}\n%s", admin, other, admin, site(addr, "simulator {", "admin", "}")))
	if status, body := get(t, "http://"+admin+"/config/"); status != 200 || !strings.Contains(body, "apps") {
		t.Fatalf("the admin endpoint itself: %d %s", status, body)
	}
	for _, origin := range []string{"http://" + admin + "/config/", "http://" + other + "/"} {
		status, body := post(t, "http://"+addr+"/_admin/add_recipe", `{"route":"/stolen","origin":"`+origin+`","headers":{"sec-fetch-mode":"cors","origin":"http://`+admin+`"},"stages":[{}]}`)
		if status != 400 || !strings.Contains(body, "it answered 40") || strings.Contains(body, admin) {
			t.Errorf("%s: got %d %s", origin, status, body)
		}
		if _, body := get(t, "http://"+addr+"/stolen"); strings.Contains(body, "apps") {
			t.Errorf("%s: the configuration is served", origin)
		}
	}
}

// TestCredentialsOfAnOriginStayInside holds that no client, whether of the site
// or of the recipe API, and no log has them.
func TestCredentialsOfAnOriginStayInside(t *testing.T) {
	host := caddytest.Addr(t)
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, fmt.Sprintf("http://%s {\n respond 404\n}\n%s", host, site(addr, "simulator {", "admin", "origin http://user:s3cretpw@"+host+"/none?token=s3cretpw", "stage 0s 200", "}")))
	eventually(t, func() bool {
		_, body := get(t, "http://"+addr+"/")
		return body == "Origin not available: it answered 404 Not Found"
	})
	for _, path := range []string{"/", "/_admin/current_recipe", "/_admin/routes_status"} {
		if _, body := get(t, "http://"+addr+path); strings.Contains(body, "user:") || path == "/" && strings.Contains(body, host) {
			t.Errorf("%s: got %s", path, body)
		}
	}
	status, body := post(t, "http://"+addr+"/_admin/add_recipe", `{"origin":"http://user:s3cretpw@`+host+`/none","stages":[{}]}`)
	if status != 400 || strings.Contains(body, "s3cretpw") {
		t.Errorf("got %d %s", status, body)
	}
	eventually(t, func() bool { return strings.Contains(s.Logs(), "cannot fetch origin") })
	for line := range strings.Lines(s.Logs()) {
		if strings.Contains(line, "s3cretpw") && !strings.Contains(line, `"config"`) {
			t.Errorf("logged: %s", line)
		}
	}
}

// TestPostedNonsenseIsRefused holds what a recipe may not ask for: more fields
// than a header has, a route of two lines, chunks without number, and header
// fields that take more than all recipes may, counted for each stage.
func TestPostedNonsenseIsRefused(t *testing.T) {
	_, url := serve(t, "simulator {", "admin", "}")
	var fields strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&fields, `"x-%d":"1",`, i)
	}
	for want, recipe := range map[string]string{
		"headers: more than 1000 lines": `{"headers":{` + fields.String() + `"y":"1"},"stages":[{}]}`,
		"route: ":                       `{"route":"/x\r\nX: y","stages":[{}]}`,
		"stages[0].dribble: '9223372036854775807' is": `{"random_content":"64gb","stages":[{"dribble":"9223372036854775807 1ns"}]}`,
		"stages[0].at: is not valid JSON: line 2":     "{\"stages\":[\n{\"at\": }]}",
	} {
		if status, body := post(t, url+"/_admin/add_recipe", recipe); status != 400 || !strings.Contains(body, want) {
			t.Errorf("want %s, got %d %s", want, status, body)
		}
	}
	var stages strings.Builder // each with the header, 300 MiB together
	for i := range 300 {
		fmt.Fprintf(&stages, `{"at":%d},`, i)
	}
	recipe := `{"headers":{"x":"` + strings.Repeat("x", 1<<20) + `"},"stages":[` + stages.String() + `{"at":300}],"route":`
	if status, body := post(t, url+"/_admin/add_recipe", recipe+`"/one"}`); status != 201 {
		t.Fatalf("one of 300 MiB: got %d %.200s", status, body)
	}
	if status, body := post(t, url+"/_admin/add_recipe", recipe+`"/two"}`); status != 400 || !strings.Contains(body, `"field":"headers"`) || !strings.Contains(body, "all recipes together") {
		t.Errorf("another: header fields do not count: got %d %.200s", status, body)
	}
}
