// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestCaddysAdminAPI walks through what it tells of the simulators and does.
func TestCaddysAdminAPI(t *testing.T) {
	addr, admin := caddytest.Addr(t), caddytest.Addr(t)
	s := caddytest.Run(t, "{\n admin "+admin+"\n}\n"+site(addr, "handle /other* {\n simulator {\n name other\n }\n}", "simulator {\n name shop\n stage 0 503 5ms\n}"))
	wantStatus(t, "http://"+addr+"/x", 503)
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "", "", 200, `[{"name":"other","requests":0,"routes":[{"route":"/*","stage":0,"status":406,"latency":"0","requests":0}]},` +
			`{"name":"shop","requests":1,"routes":[{"route":"/*","stage":1,"status":503,"latency":"5ms","requests":1}]}]`},
		{"GET", "/shop/recipes", "", 200, `[{"route":"/*","stages":[{"at":0,"latency":"5ms","status":503}]}]`},
		{"GET", "/other/recipes", "", 200, "[]"},
		{"POST", "/shop/recipes", `{"route":"/a","stages":[{"status":201}]}`, 201, `[{"route":"/*","stages":[{"at":0,"latency":"5ms","status":503}]},{"route":"/a","stages":[{"status":201}]}]`},
		{"POST", "/shop/recipes", `{"stages":[]}`, 400, `{"error":"stages: a recipe has at least one stage","field":"stages"}`},
		{"POST", "/shop/recipes", `{"body_file":"/no/such","stages":[{}]}`, 400, `{"error":"body_file: open /no/such: no such file or directory","field":"body_file"}`},
		{"POST", "/shop/restart", "", 200, `[{"route":"/*","stages":[{"at":0,"latency":"5ms","status":503}]}]`},
		{"GET", "/none/recipes", "", 404, "there is no simulator 'none'"},
		{"DELETE", "/shop/recipes", "", 405, "method not allowed"},
		{"POST", "/shop/restart?at=2026-12-01T12:00:00Z", "", 200, `[{"route":"/*","stages":[{"at":0,"latency":"5ms","status":503}]}]`},
		{"POST", "/shop/restart?at=", "", 400, "at: '' is not a time: expected one like 2026-11-30T14:35:00Z"},
		{"POST", "/shop/restart?at=0001-01-01T00:00:00Z", "", 400, "at: '0001-01-01T00:00:00Z' is not a time: expected one like 2026-11-30T14:35:00Z"},
		{"POST", "/shop/restart?at=noon", "", 400, "at: 'noon' is not a time: expected one like 2026-11-30T14:35:00Z"},
		{"POST", "/shop/restart?att=2026-12-01T12:00:00Z", "", 400, "'att' is no parameter of a restart"},
		{"POST", "/shop/restart?at=2026-12-01T12:00:00Z&at=2026-12-01T13:00:00Z", "", 400, "'at' is no parameter of a restart, or is there twice: expected one at"},
		{"GET", "/shop/restart", "", 405, "method not allowed"},
		{"POST", "", "", 405, "method not allowed"},
	} {
		resp := do(t, http.DefaultClient, step.method, "http://"+admin+"/rehearsal/simulators"+step.path, strings.NewReader(step.body))
		if status, body := read(t, resp); status != step.status || !strings.Contains(body, step.want) {
			t.Errorf("%s %s: got %d %s\nwant %d %s", step.method, step.path, status, body, step.status, step.want)
		}
	}
	if logs := s.Logs(); !strings.Contains(logs, `"logger":"admin.api.rehearsal_simulators"`) {
		t.Errorf("the module logs by another name: %s", logs)
	}
}

// TestSeedsAreExact holds that no seed becomes another on its way through Caddy's
// JSON, and that what validates runs.
func TestSeedsAreExact(t *testing.T) {
	addr := caddytest.Addr(t)
	config := func(seeds string) []byte {
		return fmt.Appendf(nil, `{"apps":{"http":{"servers":{"s":{"listen":[%q],"routes":[{"handle":[{"handler":"simulator",%s}]}]}}}}}`, addr, seeds)
	}
	s := caddytest.Run(t, "{\n}")
	for seeds, ok := range map[string]bool{
		`"seed":9007199254740991`:                                       true,
		`"seed":9007199254740992`:                                       false,
		`"seed":9007199254740993`:                                       false,
		`"seed":18446744073709551615`:                                   false,
		`"recipes":[{"seed":9007199254740991,"stages":[{"at":0}]}]`:     true,
		`"recipes":[{"seed":9007199254740993,"stages":[{"at":0}]}]`:     false,
		`"recipes":[{"seed":18446744073709551615,"stages":[{"at":0}]}]`: false,
	} {
		err := s.LoadJSON(config(seeds))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "seed") {
			t.Errorf("%s: got error %v", seeds, err)
		}
	}
}

// TestMetricsCountOnAcrossReloads holds for two simulators and changed recipes.
func TestMetricsCountOnAcrossReloads(t *testing.T) {
	a, b := fmt.Sprintf("a%d", time.Now().UnixNano()), fmt.Sprintf("b%d", time.Now().UnixNano())
	s := caddytest.Run(t, "{\n}")
	url := ""
	for _, status := range []string{"503", "503", "404"} {
		addr := caddytest.Addr(t) // of its own, so that no old server answers
		url = "http://" + addr
		s.Reload(site(addr,
			"handle /metrics {\n metrics\n}",
			"handle /b* {\n simulator {\n name "+b+"\n stage 0 200\n }\n}",
			"handle {\n simulator {\n name "+a+"\n route /a {\n stage 1h 200\n }\n stage 0 "+status+" 30ms\n }\n}"))
		get(t, url+"/x")
	}
	onAnotherConnection()
	get(t, url+"/b")
	onAnotherConnection()
	_, text := get(t, url+"/metrics")
	for _, want := range []string{
		`caddy_simulator_requests_total{branch="1",code="5xx",route="/*",simulator="` + a + `"} 2`,
		`caddy_simulator_requests_total{branch="1",code="4xx",route="/*",simulator="` + a + `"} 1`,
		`caddy_simulator_requests_total{branch="1",code="2xx",route="/*",simulator="` + b + `"} 1`,
		`caddy_simulator_latency_seconds_count{route="/*",simulator="` + a + `"} 3`,
		`caddy_simulator_latency_seconds_bucket{route="/*",simulator="` + a + `",le="0.025"} 0`,
		`caddy_simulator_latency_seconds_bucket{route="/*",simulator="` + a + `",le="0.05"} 3`,
		`caddy_simulator_stage{route="/*",simulator="` + a + `"} 1`,
		`caddy_simulator_stage{route="/a",simulator="` + a + `"} 0`,
		`caddy_simulator_stage{route="/*",simulator="` + b + `"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// TestLogs holds what the access log, the debug log and the start tell.
func TestLogs(t *testing.T) {
	onCaddysPath(t) // express is without access logs
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, "{\n debug\n}\n"+site(addr, "log", "simulator {\n route /a* {\n stage 0 200\n stage 1ns 503 7ms\n }\n body \"<<40b>>\"\n stage 0 200\n}"))
	get(t, "http://"+addr+"/abc")
	_, content := get(t, "http://"+addr+"/")
	eventually(t, func() bool { return strings.Count(s.Logs(), "handled request") == 2 })
	found := map[string]int{}
	for line := range strings.Lines(s.Logs()) {
		var entry struct {
			Level, Msg, URI string
			Simulator       json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"simulator":{"route":"/a*","stage":2,"branch":1,"latency":0.007}`) {
			found[entry.Level+" "+entry.Msg]++
		}
		if entry.Msg == "scenario starts" || entry.Msg == "the body is not sent with this status" {
			found[entry.Level+" "+entry.Msg]++
		}
	}
	if found["error handled request"]+found["info handled request"] != 1 || found["debug answering"] != 1 || found["info scenario starts"] != 1 {
		t.Errorf("got %v of %s", found, s.Logs())
	}
	if len(content) != 40 || strings.Contains(s.Logs(), content) {
		t.Errorf("the body %q is in the log", content)
	}
}

func TestBodiesThatAreNotSentAreWarnedOf(t *testing.T) {
	s, _ := serve(t, "simulator {\n body x\n stage 0 204\n}")
	if !strings.Contains(s.Logs(), "the body is not sent with this status") {
		t.Error("there is no warning")
	}
}
