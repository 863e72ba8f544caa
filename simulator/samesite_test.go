// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestOtherSitesMayNotChangeAnything holds for what browsers say of a request,
// and that programs which say nothing go on.
func TestOtherSitesMayNotChangeAnything(t *testing.T) {
	_, url := serve(t, "simulator {\n stage 0 204\n admin\n}")
	for name, tc := range map[string]struct {
		header http.Header
		want   bool
	}{
		"curl":                    {http.Header{}, true},
		"own page":                {http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {url}}, true},
		"address bar":             {http.Header{"Sec-Fetch-Site": {"none"}}, true},
		"own page, old browser":   {http.Header{"Origin": {url}}, true},
		"other site":              {http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://example.com"}}, false},
		"other port or host":      {http.Header{"Sec-Fetch-Site": {"same-site"}}, false},
		"other site, old browser": {http.Header{"Origin": {"https://example.com"}}, false},
		"hidden origin":           {http.Header{"Origin": {"null"}}, false},
		"own page, by a link":     {http.Header{"Accept-Language": {"en"}, "Referer": {url + "/page"}}, true},
	} {
		for _, step := range []struct {
			method, path string
			status       int
		}{
			{"POST", "/add_recipe", 201},
			{"POST", "/restart_clock", 200},
			{"GET", "/clear_current_count", 200},
			{"GET", "/restart", 200},
			{"POST", "/restart", 200},
		} {
			req, err := http.NewRequest(step.method, url+"/_admin"+step.path, strings.NewReader(`{"stages":[{}]}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = tc.header
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			status, body := read(t, resp)
			if tc.want && status == step.status {
				continue
			}
			var problem struct{ Error string }
			if json.Unmarshal([]byte(body), &problem) != nil || tc.want || status != 403 || problem.Error == "" {
				t.Errorf("%s, %s %s: got %d %s", name, step.method, step.path, status, body)
			}
		}
	}
	for name, header := range map[string]http.Header{
		"image, plain HTTP":               {"Accept-Language": {"en"}, "Referer": {"http://example.com/"}},
		"image, plain HTTP, hidden page":  {"Accept-Language": {"en"}, "Accept": {"image/*"}},
		"image, plain HTTP, empty choice": {"Accept-Language": {""}},
		"link of another page":            {"Referer": {"http://example.com/"}},
	} {
		for _, step := range []struct {
			method, path string
			want         int
		}{{"GET", "/restart", 403}, {"HEAD", "/restart", 403}, {"GET", "/clear_current_count", 403}, {"GET", "/routes", 200}, {"POST", "/clear_current_count", 200}} {
			req, err := http.NewRequest(step.method, url+"/_admin"+step.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = header
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := read(t, resp); status != step.want {
				t.Errorf("%s, %s %s: got %d %s", name, step.method, step.path, status, body)
			}
		}
	}
	if status, body := get(t, url+"/_admin/routes"); status != 200 || body == "" {
		t.Errorf("reading: got %d %s", status, body)
	}
}

// TestNamesThatLeadHere has a page's owner make a name lead to this machine,
// whose browser then takes the API for the page's own.
func TestNamesThatLeadHere(t *testing.T) {
	addr := caddytest.Addr(t)
	_, port, _ := net.SplitHostPort(addr)
	const admin = "simulator {\n admin\n stage 0 204\n}"
	for _, site := range []struct {
		address string
		allowed map[string]bool
	}{
		{"http://:" + port, map[string]bool{"evil.test": false, "localhost": true, "LOCALHOST.": true, "127.0.0.1": true, "[::1]": true, "sim.localhost": true}},
		{"http://sim.test:" + port, map[string]bool{"sim.test": true}},
	} {
		caddytest.Run(t, site.address+" {\nbind 127.0.0.1\n"+withExpress(admin)+"\n}")
		for host, allowed := range site.allowed {
			for _, path := range []string{"/_admin/add_recipe", "/_admin/current_recipe"} {
				method := map[bool]string{true: "POST", false: "GET"}[path == "/_admin/add_recipe"]
				status, body := read(t, insist(t, func() (*http.Response, error) {
					req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(`{"stages":[{}]}`))
					if err != nil {
						t.Fatal(err)
					}
					req.Host = host + ":" + port
					req.Header.Set("Origin", "http://"+req.Host)
					req.Header.Set("Sec-Fetch-Site", "same-origin")
					return http.DefaultClient.Do(req)
				}))
				if (status < 300) != allowed || !allowed && status != 403 {
					t.Errorf("%s, %s %s: got %d %s", site.address, host, path, status, body)
				}
			}
		}
	}
}

// TestDirectivesThatMeanAnotherThing holds what is valid, and not what was meant.
func TestDirectivesThatMeanAnotherThing(t *testing.T) {
	s, _ := serve(t, "simulator {\n stage 0 204\n}\nrespond never")
	if !strings.Contains(s.Logs(), `"handlers":["http.handlers.static_response"]`) {
		t.Errorf("nothing is said of a handler that is never reached:\n%s", s.Logs())
	}
}
