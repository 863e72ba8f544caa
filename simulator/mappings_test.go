// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

const stubList = `[
	{"name":"plain","request":{"method":"GET","url":"/plain"},"response":{"status":203,"body":"{\"plain\": true}","headers":{"X-Two":["a","b"]}}},
	{"name":"echo","request":{"urlPath":"/echo"},"response":{"body":"{{request.scheme}} {{request.clientIp}} {{request.query.q}} {{jsonPath request.body '$.a'}}","transformers":["response-template"]}},
	{"name":"order","request":{"method":"POST","url":"/order","bodyPatterns":[{"equalToJson":{"a":1}}]},"response":{"status":201}},
	{"name":"slow","request":{"url":"/slow"},"response":{"fixedDelayMilliseconds":150,"delayDistribution":{"type":"uniform","lower":50,"upper":60}}}
]`

// stubFile writes mappings to a file of their own.
func stubFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stubs.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMappingsAnswer(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, stubList), "}")
	resp, err := http.Get(url + "/plain")
	if err != nil {
		t.Fatal(err)
	}
	status, body := read(t, resp)
	if status != 203 || body != `{"plain": true}` {
		t.Errorf("got %d %s", status, body)
	}
	if got := resp.Header.Values("X-Two"); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("X-Two: %q", got)
	}
	if got, there := resp.Header["Content-Type"]; there {
		t.Errorf("a mapping without a Content-Type is sent as %q", got)
	}
	if status, body = post(t, url+"/echo?q=x%20y", `{"a":[1]}`); status != 200 || body != "http 127.0.0.1 x y [1]" {
		t.Errorf("template: got %d %s", status, body)
	}
	if status, body = post(t, url+"/order", `{"a": 1.0}`); status != 201 || body != "" {
		t.Errorf("body that matches: got %d %s", status, body)
	}
	started := time.Now()
	wantStatus(t, url+"/slow", 200)
	if took := time.Since(started); took < 200*time.Millisecond {
		t.Errorf("the delays together took %s", took)
	}
}

// TestHostileMappingsAndBodies holds that neither a date pattern of any alphabet
// nor a comparison of lists takes the server down, that a request that would
// cost too much is refused, and that the next one is answered.
func TestHostileMappingsAndBodies(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, `[
		{"request":{"url":"/day"},"response":{"body":"{{now format='yyyy年 é'}}","transformers":["response-template"]}},
		{"request":{"url":"/same","bodyPatterns":[{"matchesJsonPath":"$[?(@.a == @.b && !(@.a != @.b))]"}]},"response":{"status":202}},
		{"request":{"url":"/paths","bodyPatterns":[{"matchesJsonPath":{"expression":"$..chore","contains":"wash"}}]}},
		{"request":{"url":"/all"},"response":{"body":"{{jsonPath request.body '$..x'}}{{jsonPath request.body '$[?(@.x == @.x)]'}}","transformers":["response-template"]}}]`), "}")
	if _, body := get(t, url+"/day"); body != time.Now().UTC().Format("2006年 é") {
		t.Errorf("got %s", body)
	}
	if status, body := post(t, url+"/same", `{"a":[1,{"b":2}],"b":[1,{"b":2}],"c":{"x":[]},"d":[[],{"x":[]}]}`); status != 202 {
		t.Errorf("got %d %s", status, body)
	}
	nested := func(name string) string {
		return strings.Repeat(`{"`+name+`":`, 950) + `"` + strings.Repeat("z", 1<<20) + `"` + strings.Repeat("}", 950)
	}
	for path, body := range map[string]string{"/paths": nested("chore"), "/all": nested("x")} {
		if status, answer := post(t, url+path, body); status != 413 {
			t.Errorf("%s: got %d and %d bytes", path, status, len(answer))
		}
	}
	if status, _ := post(t, url+"/paths", `{"a":[{"chore":"wash up"}]}`); status != 200 {
		t.Errorf("got %d", status)
	}
}

func TestMappingsAreTriedBeforeRecipes(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, stubList),
		"route /recipe* {", "body recipe", "stage 0s 200", "}", "route /plain {", "body recipe", "stage 0s 200", "}", "}")
	wantStatus(t, url+"/plain", 203)
	if _, body := get(t, url+"/recipe/x"); body != "recipe" {
		t.Errorf("got %s", body)
	}
	status, body := post(t, url+"/order", `{"a":2}`)
	if status != 404 {
		t.Errorf("got %d", status)
	}
	for _, want := range []string{"No mapping matches POST /order", "The closest is 'order'", `expected equalToJson {"a":1}, got '{"a":2}'`} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
}

// TestWithoutRecipeMappingsAnswer404 holds that the API tells what requests that
// nothing takes are answered.
func TestWithoutRecipeMappingsAnswer404(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, site(addr, "simulator {\nadmin", "mappings "+stubFile(t, stubList), "}"))
	wantStatus(t, "http://"+addr+"/none", 404)
	if _, body := get(t, "http://"+addr+"/_admin/routes_status"); body != "/* 404 0" {
		t.Errorf("got %s", body)
	}
	s.Reload(site(addr, "simulator {\nadmin\nmappings_admin\n}"))
	eventually(t, func() bool { status, _ := get(t, "http://"+addr+"/__admin/mappings"); return status == 200 })
	if _, body := get(t, "http://"+addr+"/_admin/routes_status"); body != "/* 404 0" {
		t.Errorf("without any mapping: got %s", body)
	}
	s.Reload(site(addr, "simulator {\nadmin\n}"))
	eventually(t, func() bool { _, body := get(t, "http://"+addr+"/_admin/routes_status"); return body == "/* 406 0" })
	if _, body := get(t, "http://"+addr+"/_admin/current_count"); !strings.Contains(body, `"routes":{},`) || !strings.Contains(body, `"404":1`) {
		t.Errorf("mappings that are gone are counted: %s", body)
	}
}

// TestLargeJSONIsNone holds that a body is not parsed beyond a size.
func TestLargeJSONIsNone(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, `[{"name":"any","request":{"url":"/","bodyPatterns":[{"matchesJsonPath":"$[0]"}]},"response":{}}]`), "}")
	for size, want := range map[int]int{1 << 20: 200, 5 << 20: 404} {
		if status, body := post(t, url+"/", "[1"+strings.Repeat(" ", size)+"]"); status != want {
			t.Errorf("%d bytes: got %d %s", size, status, body)
		}
	}
}

func TestMappingsAreCounted(t *testing.T) {
	addr := caddytest.Addr(t)
	name := "stubs-" + addr // metrics count on from one run to the next
	config := site(addr, "route {", "metrics /metrics", "simulator {", "name "+name, "mappings "+stubFile(t, stubList), "admin", "}", "}")
	s := caddytest.Run(t, config)
	wantStatus(t, "http://"+addr+"/plain", 203)
	s.Reload(config + "\n# reloaded")
	wantStatus(t, "http://"+addr+"/plain", 203)
	wantStatus(t, "http://"+addr+"/nothing/1", 404)
	wantStatus(t, "http://"+addr+"/nothing/2", 404)
	onAnotherConnection()
	_, metrics := get(t, "http://"+addr+"/metrics")
	for _, want := range []string{
		`caddy_simulator_requests_total{branch="0",code="2xx",route="plain",simulator="` + name + `"} 2`,
		`caddy_simulator_requests_total{branch="0",code="4xx",route="none",simulator="` + name + `"} 2`,
		`caddy_simulator_latency_seconds_count{route="plain",simulator="` + name + `"} 2`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not in the metrics", want)
		}
	}
	if _, counted := get(t, "http://"+addr+"/_admin/current_count"); !strings.Contains(counted, `"plain":{"203":2,"total_requests":2}`) {
		t.Errorf("counted: %s", counted)
	}
	_, _ = get(t, "http://"+addr+"/_admin/clear_current_count")
	if _, counted := get(t, "http://"+addr+"/_admin/current_count"); !strings.Contains(counted, `"plain":{"total_requests":0}`) {
		t.Errorf("after clearing: %s", counted)
	}
}

func TestReloadReadsMappingsAgain(t *testing.T) {
	path := stubFile(t, stubList)
	addr := caddytest.Addr(t)
	config := site(addr, "simulator {", "mappings "+path, "}")
	s := caddytest.Run(t, config)
	wantStatus(t, "http://"+addr+"/plain", 203)
	if err := os.WriteFile(path, []byte(`{"request":{"url":"/plain"},"response":{"status":202}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Reload(config)
	eventually(t, func() bool { // the old server may still accept a connection
		onAnotherConnection()
		status, _ := get(t, "http://"+addr+"/plain")
		return status == 202
	})
	if err := os.WriteFile(path, []byte(`{"request":{"url":"/plain"},"pot":"s"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.TryReload(config); err == nil || !strings.Contains(err.Error(), "stubs.json: pot: not supported") {
		t.Errorf("got %v", err)
	}
	wantStatus(t, "http://"+addr+"/plain", 202)
}

func TestMappingsInJSON(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, site(caddytest.Addr(t), "respond ok"))
	files := filepath.Join(t.TempDir(), "__files")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "body.txt"), []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := `{"apps":{"http":{"servers":{"s":{"listen":["` + addr + `"],"routes":[{"handle":[{"handler":"simulator",
		"mappings":{"mappings":[{"request":{"url":"/file"},"response":{"bodyFileName":"body.txt"}}]},"mappings_root":"` + filepath.Dir(files) + `"}]}]}}}}}`
	if err := s.LoadJSON([]byte(config)); err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, "http://"+addr+"/file"); status != 200 || body != "from a file" {
		t.Errorf("got %d %s", status, body)
	}
}

func TestWireMockAdapter(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, site(caddytest.Addr(t), "respond ok"))
	adapter := caddyconfig.GetAdapter("wiremock")
	config, warnings, err := adapter.Adapt([]byte(`{"listen":"`+addr+`","mappings":`+stubList+`}`), nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if err := s.LoadJSON(config); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, "http://"+addr+"/plain", 203)
	if _, body := get(t, "http://"+addr+"/_admin/status"); body != "ok!" {
		t.Errorf("the recipe API says %s", body)
	}
	for _, body := range []string{stubList, `{"request":{"url":"/a"}}`, `{"mappings":[]}`} {
		if config, _, err := adapter.Adapt([]byte(body), nil); err != nil || !strings.Contains(string(config), `"127.0.0.1:8080"`) {
			t.Errorf("%s: %s, %v", body, config, err)
		}
	}
	config, _, err = adapter.Adapt([]byte(`{"listen":":1","templates":true,"unsupported":"skip","mappings_admin":{"prefix":"/x"},"mappings":[]} // so`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`":1"`, `"templates":true`, `"unsupported":"skip"`, `"mappings_admin":{"prefix":"/x"}`, `"mappings":"{\"mappings\":[]}\n"`} {
		if !strings.Contains(string(config), want) {
			t.Errorf("%s is not in %s", want, config)
		}
	}
	for _, body := range []string{``, `{`, `[`, `{"listen":5}`, `{"mappings_admin":true}`} {
		if config, _, err := adapter.Adapt([]byte(body), nil); err == nil {
			t.Errorf("%s became %s", body, config)
		}
	}
}

// TestAdapterWarnsOfWhatIsLeft holds that of several JSON values the adapter takes the
// first, as from files, and says so.
func TestAdapterWarnsOfWhatIsLeft(t *testing.T) {
	config, warnings, err := wireMockAdapter{}.Adapt([]byte(`{"request":{"url":"/first"}} {"request":{"url":"/second"}}`), map[string]any{"filename": "stubs.json"})
	if err != nil || !strings.Contains(string(config), "/first") || strings.Contains(string(config), "/second") {
		t.Errorf("got %s, %v", config, err)
	}
	if len(warnings) != 1 || warnings[0].File != "stubs.json" {
		t.Errorf("got the warnings %v", warnings)
	}
}

// TestAdapterKeepsWhatIsWritten holds that neither the adapter nor Caddy, which
// sorts and rounds what its configuration has, changes a body.
func TestAdapterKeepsWhatIsWritten(t *testing.T) {
	s := caddytest.Run(t, site(caddytest.Addr(t), "respond ok"))
	const body = `{"z":1,"a":[1.50,12345678901234567890,"<&>"]}`
	stub := `{"request":{"url":"/"},"response":{"jsonBody":` + body + `,"headers":{"X-Z":"1","X-A":"2"}}}`
	addr := caddytest.Addr(t)
	for _, stubList := range []string{`{"listen":"` + addr + `","mappings":[` + stub + `]}`, `{"listen":"` + addr + `",` + stub[1:]} {
		config, _, err := caddyconfig.GetAdapter("wiremock").Adapt([]byte(stubList), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.LoadJSON(config); err != nil {
			t.Fatal(err)
		}
		if _, got := get(t, "http://"+addr+"/"); got != body {
			t.Errorf("got %s, want %s", got, body)
		}
	}
}

func TestMappingsRefused(t *testing.T) {
	onCaddysPath(t) // express is a line more
	for _, tc := range []struct{ lines, want string }{
		{"mappings", "Caddyfile:3"},
		{"mappings /nowhere/to/be/found", "/nowhere/to/be/found"},
		{"mappings {env.NO_SUCH_VARIABLE_HERE}", "mapping files"},
		{"mappings " + stubFile(t, `{"request":{"colour":"red"}}`), "request.colour: not supported"},
	} {
		err := caddytest.Validate(site("127.0.0.1:0", "simulator {", tc.lines, "}"))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.lines, err, tc.want)
		}
	}
}

func TestLargeBodyForAMappingIsRefused(t *testing.T) {
	_, url := serve(t, "simulator {", "mappings "+stubFile(t, stubList), "}")
	resp, err := http.Post(url+"/order", "application/json", io.LimitReader(zeros{}, mostRead+1))
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := read(t, resp); status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", status)
	}
}

// TestMappingsBreakAndDribble holds that mappings have the faults and the pace
// of the simulator.
func TestMappingsBreakAndDribble(t *testing.T) {
	name := "broken-" + caddytest.Addr(t) // metrics count on from one run to the next
	_, url := serve(t, "route {", "metrics /metrics", "simulator {", "name "+name, "mappings "+stubFile(t, `[
		{"name":"reset","request":{"url":"/reset"},"response":{"fault":"CONNECTION_RESET_BY_PEER"}},
		{"name":"empty","request":{"url":"/empty"},"response":{"fault":"EMPTY_RESPONSE"}},
		{"name":"malformed","request":{"url":"/malformed"},"response":{"fault":"MALFORMED_RESPONSE_CHUNK"}},
		{"name":"garbage","request":{"url":"/garbage"},"response":{"fault":"RANDOM_DATA_THEN_CLOSE"}},
		{"name":"dribble","request":{"url":"/dribble"},"response":{"body":"{{request.method}} drop by drop","transformers":["response-template"],
			"chunkedDribbleDelay":{"numberOfChunks":4,"totalDuration":200}}}]`), "}", "}")
	for path, check := range map[string]func(got []byte, err error) bool{
		"/reset": func(got []byte, err error) bool { return len(got) == 0 && errors.Is(err, syscall.ECONNRESET) },
		"/empty": func(got []byte, err error) bool { return len(got) == 0 && err == nil },
		"/malformed": func(got []byte, err error) bool {
			return bytes.HasPrefix(got, []byte("HTTP/1.1 200 OK\r\n")) && err == nil
		},
		"/garbage": func(got []byte, err error) bool { return len(got) > 0 && got[0] != 'H' && err == nil },
	} {
		conn := dial(t, url)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path)
		if got, err := io.ReadAll(conn); !check(got, err) {
			t.Errorf("%s: got %.100q, error %v", path, got, err)
		}
	}
	started := time.Now()
	if status, body := get(t, url+"/dribble"); status != 200 || body != "GET drop by drop" {
		t.Errorf("dribble: got %d %s", status, body)
	}
	if took := time.Since(started); took < 200*time.Millisecond {
		t.Errorf("dribble: took %s", took)
	}
	onAnotherConnection()
	_, metrics := get(t, url+"/metrics")
	for _, want := range []string{
		`caddy_simulator_requests_total{branch="0",code="fault",route="reset",simulator="` + name + `"} 1`,
		`caddy_simulator_requests_total{branch="0",code="2xx",route="malformed",simulator="` + name + `"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not in the metrics", want)
		}
	}
}

func TestSeedRepeatsTemplates(t *testing.T) {
	stub := stubFile(t, `{"mappings":[{"request":{"urlPath":"/"},"response":{"body":"{{randomValue}}","transformers":["response-template"]}},
		{"request":{"urlPath":"/other"},"response":{"body":"{{randomValue}}","transformers":["response-template"]}}]}`)
	var values []string
	for i, seed := range []string{"seed 7", "seed 7", "seed 8"} {
		addr := caddytest.Addr(t)
		caddytest.Run(t, site(addr, "simulator {", "name "+addr, "mappings "+stub, seed, "}")) // a name of its own: else the draws go on
		for range i {                                                                          // what others are asked does not matter
			get(t, "http://"+addr+"/other")
		}
		_, body := get(t, "http://"+addr)
		values = append(values, body)
	}
	if values[0] != values[1] || values[0] == values[2] {
		t.Errorf("got %q", values)
	}
}
