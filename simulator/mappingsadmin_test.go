// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// send sends a request and returns the status and the body.
func send(t testing.TB, method, url, body string, header http.Header) (int, string) {
	t.Helper()
	return read(t, insist(t, func() (*http.Response, error) {
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if header != nil {
			req.Header = header
		}
		return http.DefaultClient.Do(req)
	}))
}

// TestMappingsAdmin holds what WireMock's clients do not look at; these have a test
// of their own.
func TestMappingsAdmin(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, site(addr, "simulator {", "name "+addr, "mappings_admin", "route /recipe {", "stage 0s 201", "}", "}"))
	url := "http://" + addr
	wantStatus(t, url+"/nothing", 404)
	wantStatus(t, url+"/recipe", 201)
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/mappings", `{"id":"11111111-1111-4111-8111-111111111111","name":"one","request":{"url":"/one"},"response":{"body":"<&>"}}`, 201, `"id": "11111111-1111-4111-8111-111111111111"`},
		{"GET", "/mappings/11111111-1111-4111-8111-111111111111", "", 200, `"body": "<&>"`},
		{"POST", "/mappings", `{"id":"11111111-1111-4111-8111-111111111111","persistent":true}`, 422, `"title": "Duplicate stub mapping ID"`},
		{"GET", "/mappings?limit=1", "", 200, `"total":1`},
		{"GET", "/mappings?limit=x", "", 400, `limit must be 0 or greater`},
		{"POST", "/mappings", `{"request":{"pot":1}}`, 422, `request.pot: not supported`},
		{"POST", "/mappings", `{`, 422, `unexpected`},
		{"POST", "/mappings", `{"id":"one"}`, 422, `id: 'one' is not a valid UUID`},
		{"PUT", "/mappings/22222222-2222-4222-8222-222222222222", `{}`, 404, "Stub mapping not found"},
		{"DELETE", "/mappings/nothing", "", 400, "nothing is not a valid UUID"},
		{"POST", "/mappings/import", `{"mappings":[{"request":{"url":"/i"}},{"request":{"pot":1}}]}`, 422, "mappings[1]: "},
		{"POST", "/mappings/save", "", 500, "names no directory"},
		{"POST", "/mappings", `{"persistent":true}`, 500, "names no directory"},
		{"POST", "/requests/count", `{"url":"/nothing"}`, 200, `"count": 1`},
		{"POST", "/requests/count", `{"url":"/recipe"}`, 200, `"count": 0`},
		{"POST", "/mappings", `{"request":{"url":"/more"}} and more`, 201, `"url": "/more"`},
		{"POST", "/requests/count", `{"url":"/nothing"} and more`, 200, `"count": 1`},
		{"POST", "/requests/count", `{"uri":"/nothing"}`, 422, "request.uri: not supported"},
		{"GET", "/requests/nothing", "", 400, "nothing is not a valid UUID"},
		{"GET", "/requests?since=yesterday", "", 400, "not a valid ISO8601 date"},
		{"GET", "/requests?unmatched=true", "", 200, `"wasMatched": false`},
		{"POST", "/near-misses/request", `{"url":"/ona","method":"GET","headers":{"A":["1","2"],"B":"3"}}`, 200, `"name": "one"`},
		{"POST", "/settings", `{"fixedDelay":-1}`, 422, "fixedDelay"},
		{"POST", "/settings", `{"delayDistribution":{"type":"gamma"}}`, 422, "gamma"},
		{"PATCH", "/settings/extended", `{"extended":{"a":1}}`, 200, "{}"},
		{"GET", "/settings", "", 200, `"a": 1`},
		{"GET", "/version", "", 200, `"version": "3.13.2"`},
		{"GET", "/files", "", 404, "no such path"},
		{"POST", "/shutdown", "", 404, "no such path"},
		{"POST", "/mappings", strings.Repeat(" ", 17<<20), 413, "too large"},
		{"POST", "/reset", "", 200, "{}"},
		{"GET", "/mappings", "", 200, `"total":0`},
		{"GET", "/requests", "", 200, `"total":0`},
	} {
		if status, body := send(t, tc.method, url+"/__admin"+tc.path, tc.body, nil); status != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%s %s: got %d %.300s, want %d with %s", tc.method, tc.path, status, body, tc.status, tc.want)
		}
	}
	wantStatus(t, url+"/__administration", 404)
	wantStatus(t, url+"/recipe", 201)
}

// TestMappingsAdminIsOffUnlessGiven holds that there is none by itself, and that it
// and the recipe API have paths of their own.
func TestMappingsAdminIsOffUnlessGiven(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, stubList), "}")
	wantStatus(t, url+"/__admin/mappings", 404)
	if _, body := get(t, url+"/__admin/mappings"); !strings.Contains(body, "No mapping matches") {
		t.Errorf("got %s", body)
	}
	for lines, want := range map[string]string{
		"admin\nmappings_admin /_admin":         "is a path of the recipe API",
		"admin /a/b\nmappings_admin /a":         "the recipe API has a path of '/a'",
		"mappings_admin admin":                  "is not a path like",
		"mappings_admin {\njournal many\n}":     "'many' is not a number of requests",
		"mappings_admin {\njournal 10 1tb\n}":   "parsing journal: ",
		"mappings_admin {\nredact_json ..a\n}":  "is not a JSON path",
		"mappings_admin {\nredact a:b\n}":       "is not a header field name",
		"mappings_admin {\njournal 10 1mb 2\n}": "wrong argument count",
	} {
		if err := caddytest.Validate(site("127.0.0.1:0", "simulator {", lines, "}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", lines, err, want)
		}
	}
}

// TestAddedMappingsStayOverReloads holds it for reloads that change nothing of the
// simulator, that other mappings begin without them, and that saved ones come back.
func TestAddedMappingsStayOverReloads(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "mappings"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "mappings", "one.json")
	if err := os.WriteFile(file, []byte(`{"request":{"url":"/one"},"response":{"status":201}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := caddytest.Addr(t)
	url := "http://" + addr
	config := site(addr, "simulator {", "name "+addr, "mappings "+root, "mappings_admin", "}")
	s := caddytest.Run(t, config)
	add := func(mapping string) {
		t.Helper()
		if status, body := send(t, "POST", url+"/__admin/mappings", mapping, nil); status != 201 {
			t.Errorf("got %d %s", status, body)
		}
	}
	add(`{"request":{"url":"/added"},"response":{"status":202}}`)
	add(`{"request":{"url":"/one"},"response":{"status":203}}`)
	wantStatus(t, url+"/one", 203)
	s.Reload(config + "\n# reloaded")
	onAnotherConnection()
	wantStatus(t, url+"/added", 202)
	wantStatus(t, url+"/one", 203)
	if _, body := send(t, "POST", url+"/__admin/requests/count", `{"url":"/one"}`, nil); !strings.Contains(body, `"count": 2`) {
		t.Errorf("the journal is gone: %s", body)
	}
	add(`{"id":"11111111-1111-4111-8111-111111111111","name":"a/../b c","persistent":true,"request":{"url":"/saved"},"response":{"status":204}}`)
	saved := filepath.Join(root, "mappings", "a----b-c-11111111-1111-4111-8111-111111111111.json")
	if _, err := os.Stat(saved); err != nil {
		t.Error(err)
	}
	s.Reload(config)
	eventually(t, func() bool {
		onAnotherConnection()
		status, _ := get(t, url+"/one")
		return status == 201
	})
	wantStatus(t, url+"/added", 404)
	wantStatus(t, url+"/saved", 204)
	if status, _ := send(t, "DELETE", url+"/__admin/mappings/11111111-1111-4111-8111-111111111111", "", nil); status != 200 {
		t.Errorf("got %d", status)
	}
	if _, err := os.Stat(saved); !os.IsNotExist(err) {
		t.Errorf("a mapping that was removed is in its file: %v", err)
	}
	wantStatus(t, url+"/saved", 404)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.Reload(config + "\n# a folder without mappings")
	eventually(t, func() bool {
		onAnotherConnection()
		status, _ := get(t, url+"/one")
		return status == 404
	})
	add(`{"persistent":true,"request":{"url":"/first"},"response":{"status":205}}`)
	wantStatus(t, url+"/first", 205)
}

// TestJournalHasFaultsInWireMocksWords holds what the Java client can read, which
// knows no other words.
func TestJournalHasFaultsInWireMocksWords(t *testing.T) {
	for _, fault := range []string{"EMPTY_RESPONSE", "CONNECTION_RESET_BY_PEER", "MALFORMED_RESPONSE_CHUNK", "RANDOM_DATA_THEN_CLOSE"} {
		_, url := serve(t, "simulator {", "mappings "+stubFile(t, `{"request":{"urlPath":"/broken"},"response":{"fault":"`+fault+`"}}`), "mappings_admin", "}")
		if resp, err := http.Get(url + "/broken"); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		_, journal := get(t, url+"/__admin/requests")
		_, response, _ := strings.Cut(journal, `"response": {`)
		if response, _, _ = strings.Cut(response, "}"); !strings.Contains(response, `"fault": "`+fault+`"`) {
			t.Errorf("got %s", response)
		}
	}
}

// TestJournalIsBoundedAndRedacted holds how much is kept, and what is left out.
func TestJournalIsBoundedAndRedacted(t *testing.T) {
	addr := caddytest.Addr(t)
	url := "http://" + addr
	caddytest.Run(t, site(addr, "simulator {", "name "+addr, "mappings "+stubFile(t, `{"request":{"urlPath":"/echo"},"response":{"jsonBody":{"card":"7777"},"headers":{"Content-Type":"application/json","X-Key":"secret-key"}}}`),
		"mappings_admin {", "journal 10 64kb", "redact X-Key Cookie", "redact_query token", "redact_json $.card", "}", "}"))
	for i := range 15 {
		send(t, "POST", fmt.Sprintf("%s/echo?n=%d&token=secret", url, i), `{"card":"1234","n":1}`, http.Header{"X-Key": {"secret"}, "Cookie": {"a=secret"}, "Content-Type": {"application/json"}})
	}
	type journal struct {
		Requests []struct {
			Request struct{ URL, Body string }
		}
	}
	look := func() (j journal, text string) {
		_, text = get(t, url+"/__admin/requests")
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		return j, text
	}
	j, text := look()
	if len(j.Requests) != 10 || j.Requests[0].Request.URL != "/echo?n=14&token=REDACTED" || j.Requests[9].Request.URL != "/echo?n=5&token=REDACTED" {
		t.Errorf("got %d: %+v", len(j.Requests), j.Requests)
	}
	// The mapping itself is shown as it was read.
	_, text, _ = strings.Cut(text, `"request": {`)
	for _, secret := range []string{"1234", "token=secret", "a=secret", `"secret"`} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in\n%.2000s", secret, text)
		}
	}
	if got := j.Requests[0].Request.Body; got != `{"card":"REDACTED","n":1}` {
		t.Errorf("got %s", got)
	}
	for range 5 {
		send(t, "POST", url+"/large", strings.Repeat("x", 15<<10), nil)
	}
	if j, _ := look(); len(j.Requests) > 4 || len(j.Requests[0].Request.Body) != 15<<10 {
		t.Errorf("%d requests of 15 KiB are kept in 64 KiB", len(j.Requests))
	}
	send(t, "POST", url+"/larger", strings.Repeat("x", 100<<10), nil)
	if j, _ := look(); len(j.Requests) == 0 || j.Requests[0].Request.URL != "/larger" || j.Requests[0].Request.Body != "" {
		t.Errorf("got %+v", j)
	}
}

// TestOtherSitesMayNotChangeMappings holds that no page of another site changes
// anything, and that programs which look like browsers do.
func TestOtherSitesMayNotChangeMappings(t *testing.T) {
	addr := caddytest.Addr(t)
	url := "http://" + addr
	caddytest.Run(t, site(addr, "simulator {", "name "+addr, "mappings_admin", "}"))
	const id = "/11111111-1111-4111-8111-111111111111"
	for _, tc := range []struct {
		header http.Header
		want   bool
	}{
		{http.Header{}, true},
		{http.Header{"Accept-Language": {"*"}, "Sec-Fetch-Mode": {"cors"}}, true}, // Node's fetch
		{http.Header{"Origin": {url}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{http.Header{"Origin": {"http://example.com"}}, false},
		{http.Header{"Origin": {"null"}}, false},
		{http.Header{"Sec-Fetch-Site": {"cross-site"}}, false},
	} {
		for _, step := range []struct{ method, path, body string }{
			{"POST", "/mappings", `{"id":"` + id[1:] + `"}`},
			{"PUT", "/mappings" + id, `{}`},
			{"PATCH", "/settings/extended", `{}`},
			{"DELETE", "/mappings" + id, ""},
			{"DELETE", "/requests", ""},
			{"POST", "/reset", ""},
		} {
			status, body := send(t, step.method, url+"/__admin"+step.path, step.body, tc.header.Clone())
			if tc.want != (status < 300) || !tc.want && status != 403 {
				t.Errorf("%v, %s %s: got %d %s", tc.header, step.method, step.path, status, body)
			}
		}
	}
	_, port, _ := strings.Cut(addr, ":")
	caddytest.Run(t, "http://:"+port+" {\nbind 127.0.0.1\n"+withExpress("simulator {\nmappings_admin\n}")+"\n}")
	onAnotherConnection()
	req, err := http.NewRequest("GET", url+"/__admin/requests", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.test:" + port
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := read(t, resp); status != 403 {
		t.Errorf("another name: got %d %s", status, body)
	}
}

// TestMappingsChangeUnderLoad adds and removes mappings while others are asked for:
// each request gets an answer, and what is added is there at once.
func TestMappingsChangeUnderLoad(t *testing.T) {
	addr := caddytest.Addr(t)
	url := "http://" + addr
	caddytest.Run(t, site(addr, "simulator {", "name "+addr, "mappings "+stubFile(t, `{"request":{"url":"/steady"},"response":{"status":201}}`), "mappings_admin", "}"))
	var clients sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if status, body := get(t, url+"/steady"); status != 201 {
					t.Errorf("got %d %s", status, body)
					return
				}
			}
		})
	}
	for i := range 100 {
		path := fmt.Sprintf("/new/%d", i)
		status, body := send(t, "POST", url+"/__admin/mappings", `{"request":{"url":"`+path+`"},"response":{"status":202}}`, nil)
		if status != 201 {
			t.Fatalf("got %d %s", status, body)
		}
		wantStatus(t, url+path, 202)
		if i%2 == 0 {
			var made struct{ ID string }
			if err := json.Unmarshal([]byte(body), &made); err != nil {
				t.Fatal(err)
			}
			send(t, "DELETE", url+"/__admin/mappings/"+made.ID, "", nil)
			wantStatus(t, url+path, 404)
		}
	}
	close(done)
	clients.Wait()
	if _, body := get(t, url+"/__admin/mappings"); !strings.Contains(body, `"total":51`) {
		t.Errorf("got %.200s", body[max(0, len(body)-200):])
	}
}
