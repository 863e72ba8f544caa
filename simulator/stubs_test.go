// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestUnsupportedMappings holds that a configuration is refused with the names of all
// mappings that cannot be served, or serves the others and tells of each.
func TestUnsupportedMappings(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		field := ""
		if i%10 == 3 {
			field = `"colour":"red",`
		}
		content := fmt.Sprintf(`{"name":"stub %d","request":{%s"url":"/%d"},"response":{"status":202}}`, i, field, i)
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("%02d.json", i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, strict := range []string{"", "unsupported fail"} {
		err := caddytest.Validate(site("127.0.0.1:0", "simulator {", "mappings "+root, strict, "}"))
		for i := 3; i < 50; i += 10 {
			if want := fmt.Sprintf("%02d.json: mapping 'stub %d': request.colour: not supported", i, i); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("'%s': want %s in\n%v", strict, want, err)
			}
		}
	}
	s, url := serve(t, "simulator {", "mappings "+root, "unsupported skip", "}")
	for i := range 50 {
		wantStatus(t, fmt.Sprintf("%s/%d", url, i), map[bool]int{true: 404, false: 202}[i%10 == 3])
	}
	for i := 3; i < 50; i += 10 {
		if want := fmt.Sprintf("%02d.json: mapping 'stub %d': request.colour: not supported", i, i); !strings.Contains(s.Logs(), want) {
			t.Errorf("%s is not in the log", want)
		}
	}
	if !strings.Contains(s.Logs(), `"left_out":5,"served":45`) {
		t.Errorf("how many are left out is not in the log:\n%s", s.Logs())
	}
	if err := caddytest.Validate(site("127.0.0.1:0", "simulator {", "unsupported maybe", "}")); err == nil || !strings.Contains(err.Error(), "'maybe' is neither fail nor skip") {
		t.Errorf("got %v", err)
	}
}

// TestScenariosStayOverReloads holds that a scenario goes on after a reload which
// leaves the mappings as they are, and begins again with other ones.
func TestScenariosStayOverReloads(t *testing.T) {
	const steps = `[
		{"scenarioName":"s","requiredScenarioState":"Started","newScenarioState":"two","request":{"url":"/"},"response":{"body":"first"}},
		{"scenarioName":"s","requiredScenarioState":"two","request":{"url":"/"},"response":{"body":"then"}}%s]`
	path := stubFile(t, fmt.Sprintf(steps, ""))
	addr := caddytest.Addr(t)
	config := site(addr, "simulator {", "name "+addr, "mappings "+path, "}")
	s := caddytest.Run(t, config)
	want := func(want string) {
		t.Helper()
		onAnotherConnection()
		if _, body := get(t, "http://"+addr); body != want {
			t.Errorf("got %s, want %s", body, want)
		}
	}
	want("first")
	s.Reload(config + "\n# reloaded")
	want("then")
	if err := os.WriteFile(path, []byte(fmt.Sprintf(steps, `,{"request":{"url":"/more"}}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Reload(config)
	eventually(t, func() bool { // the old server may still accept a connection
		onAnotherConnection()
		status, _ := get(t, "http://"+addr+"/more")
		return status == 200
	})
	want("first")
}

func TestMappingsProxy(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Added", "own")
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusNonAuthoritativeInfo)
		fmt.Fprintf(w, "%s %s %s|%s|%s|%s|%s", r.Method, r.RequestURI, r.Host, strings.Join(r.Header.Values("X-New"), " "), r.Header.Get("X-Gone"), r.Header.Get("X-Kept"), body)
	}))
	defer upstream.Close()
	host := strings.TrimPrefix(upstream.URL, "http://")
	name := "proxy-" + caddytest.Addr(t) // metrics count on from one run to the next
	_, url := serve(t, "route {", "metrics /metrics", "simulator {", "name "+name, "mappings "+stubFile(t, `[
		{"name":"there","request":{"urlPathPattern":"/there/.*","bodyPatterns":[{"contains":"a"}]},"response":{"proxyBaseUrl":"`+upstream.URL+`/base","proxyUrlPrefixToRemove":"/there",
			"additionalProxyRequestHeaders":{"X-New":["new","newer"]},"removeProxyRequestHeaders":["x-gone"],"headers":{"X-Added":"mapping"},"fixedDelayMilliseconds":50}},
		{"name":"from","request":{"urlPath":"/from"},"response":{"proxyBaseUrl":"http://{{request.query.to}}","additionalProxyRequestHeaders":{"X-New":"{{request.path}}"},"transformers":["response-template"]}},
		{"name":"dead","request":{"urlPath":"/dead"},"response":{"proxyBaseUrl":"http://127.0.0.1:1"}},
		{"name":"plain","request":{"urlPath":"/plain"},"response":{"body":"here"}}]`), "mappings_admin", "}", "}")
	for range 2 { // with express, on a connection that might have been taken over
		req, err := http.NewRequest(http.MethodPost, url+"/there/x%20y?q=1", strings.NewReader("abc"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"X-Gone": {"1"}, "X-Kept": {"2"}, "X-New": {"old"}}
		started := time.Now()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		added := resp.Header.Values("X-Added")
		if status, body := read(t, resp); status != 203 || body != "POST /base/x%20y?q=1 "+host+"|old new newer||2|abc" {
			t.Errorf("got %d %s", status, body)
		}
		if fmt.Sprint(added) != "[own mapping]" {
			t.Errorf("X-Added: %q", added)
		}
		if kind, there := resp.Header["Content-Type"]; there {
			t.Errorf("a response without a Content-Type is sent as %q", kind)
		}
		if took := time.Since(started); took < 50*time.Millisecond {
			t.Errorf("the delay took %s", took)
		}
	}
	if status, body := get(t, url+"/from?to="+host); status != 203 || body != "GET /from?to="+host+" "+host+"|/from|||" {
		t.Errorf("got %d %s", status, body)
	}
	wantStatus(t, url+"/from?to=%20", 500)
	wantStatus(t, url+"/dead", 502)
	if _, body := get(t, url+"/plain"); body != "here" {
		t.Errorf("got %s", body)
	}
	if _, body := get(t, url+"/__admin/requests?limit=2"); !strings.Contains(body, `"status": 502`) || !strings.Contains(body, `"body": "here"`) {
		t.Errorf("the journal has\n%s", body)
	}
	_, metrics := get(t, url+"/metrics")
	for _, want := range []string{
		`caddy_simulator_requests_total{branch="0",code="2xx",route="there",simulator="` + name + `"} 2`,
		`caddy_simulator_requests_total{branch="0",code="5xx",route="dead",simulator="` + name + `"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not in the metrics", want)
		}
	}
}

// TestMappingsProxyInALoop holds that a mapping which leads back to itself ends.
func TestMappingsProxyInALoop(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, site(addr, "simulator {", "mappings "+stubFile(t, `{"request":{},"response":{"proxyBaseUrl":"http://`+addr+`"}}`), "}"))
	wantStatus(t, "http://"+addr, 508)
}

// TestWebhooks holds that what a mapping asks for is sent once it has responded, and
// that what fails is counted.
func TestWebhooks(t *testing.T) {
	var mu sync.Mutex
	var got []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-From"), body))
	}))
	defer receiver.Close()
	name := "hooks-" + caddytest.Addr(t) // metrics count on from one run to the next
	s, url := serve(t, "route {", "metrics /metrics", "simulator {", "name "+name, "mappings "+stubFile(t, `[
		{"name":"hook","request":{"urlPath":"/hook"},"response":{"status":202},"serveEventListeners":[
			{"name":"webhook","parameters":{"method":"PUT","url":"`+receiver.URL+`/called?id={{originalRequest.query.id}}","headers":{"X-From":"{{parameters.who}}"},"body":"{{jsonPath originalRequest.body '$.a'}}","who":"stub"}},
			{"name":"webhook","requestPhases":["BEFORE_MATCH"],"parameters":{"url":"`+receiver.URL+`/never"}}]},
		{"name":"old","request":{"urlPath":"/old"},"postServeActions":{"webhook":{"method":"POST","url":"`+receiver.URL+`/old","base64Body":"YQ==","delay":{"type":"fixed","milliseconds":50}}}},
		{"name":"fails","request":{"urlPath":"/fails"},"serveEventListeners":[{"name":"webhook","parameters":{"method":"GET","url":"http://127.0.0.1:1/?secret=1"}}]},
		{"name":"nowhere","request":{"urlPath":"/nowhere"},"serveEventListeners":[{"name":"webhook","parameters":{"method":"GET","url":"{{originalRequest.query.to}}"}}]},
		{"name":"broken","request":{"urlPath":"/broken"},"serveEventListeners":[
			{"name":"webhook","parameters":{"method":"GET","url":"ftp://127.0.0.1/"}},
			{"name":"webhook","parameters":{"method":"GET","url":"`+receiver.URL+`/late","delay":{"type":"gamma"}}}]}]`), "}", "}")
	if status, body := post(t, url+"/hook?id=7", `{"a":"b"}`); status != 202 || body != "" {
		t.Errorf("got %d %s", status, body)
	}
	wantStatus(t, url+"/old", 200)
	wantStatus(t, url+"/fails", 200)
	wantStatus(t, url+"/nowhere?to=file:///etc/passwd%3Fsecret", 200)
	wantStatus(t, url+"/broken", 200)
	eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 2 })
	for i, want := range []string{"PUT /called?id=7 stub b", "POST /old  a"} {
		if got[i] != want {
			t.Errorf("got %s, want %s", got[i], want)
		}
	}
	eventually(t, func() bool {
		onAnotherConnection()
		_, metrics := get(t, url+"/metrics")
		return strings.Contains(metrics, `caddy_simulator_webhooks_total{result="failed",simulator="`+name+`"} 4`) &&
			strings.Contains(metrics, `caddy_simulator_webhooks_total{result="sent",simulator="`+name+`"} 2`)
	})
	for _, want := range []string{"serveEventListeners[0].parameters.url: 'ftp://127.0.0.1/' is not a URL of http or https: every call fails", "serveEventListeners[1].parameters.delay: latency "} {
		if !strings.Contains(s.Logs(), want) {
			t.Errorf("%q is not in the log", want)
		}
	}
	if logs := s.Logs(); !strings.Contains(logs, "webhook failed") || strings.Contains(logs, "secret") {
		t.Errorf("the log has\n%s", logs)
	}
}

// TestWebhooksFollowProxiedResponses holds that a call is made once another server has
// responded, and not before.
func TestWebhooksFollowProxiedResponses(t *testing.T) {
	calls := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { calls <- r.URL.Path }))
	defer receiver.Close()
	var url string
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		for range 20 { // calls are made in the order in which they are due
			if resp, err := http.Get(url + "/other"); err == nil {
				resp.Body.Close()
			}
			if got := <-calls; got != "/other" {
				t.Errorf("got a call of %s before the response", got)
			}
		}
	}))
	defer upstream.Close()
	hook := func(path string) string {
		return `"serveEventListeners":[{"name":"webhook","parameters":{"method":"GET","url":"` + receiver.URL + path + `"}}]`
	}
	_, url = serve(t, "simulator {", "mappings "+stubFile(t, `[
		{"request":{"url":"/proxied"},"response":{"proxyBaseUrl":"`+upstream.URL+`"},`+hook("/proxied")+`},
		{"request":{"url":"/other"},`+hook("/other")+`}]`), "}")
	wantStatus(t, url+"/proxied", 200)
	if got := <-calls; got != "/proxied" {
		t.Errorf("got a call of %s", got)
	}
}

// TestWebhooksOfClientsThatLeave holds that a call does not depend on whether the
// client waits for its response.
func TestWebhooksOfClientsThatLeave(t *testing.T) {
	called := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(called) }))
	defer receiver.Close()
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, `{"request":{"url":"/late"},"response":{"fixedDelayMilliseconds":3600000},
		"serveEventListeners":[{"name":"webhook","parameters":{"method":"GET","url":"`+receiver.URL+`"}}]}`), "}")
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /late HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	conn.Close()
	select {
	case <-called:
	case <-time.After(20 * time.Second):
		t.Error("nothing was called")
	}
}
