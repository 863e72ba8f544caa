// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestCaddyfile(t *testing.T) {
	d := caddyfile.NewTestDispenser(`simulator a.json b.json {
		recipe c.json d.json
		recipe e.json
		name shop
		admin /control
		body "all <<5b>>"
		stage 5s 503 lognormal(70ms,0.3)
		stage 0 200
		header X-A 1
		header x-a 2
		route /news* {
			origin https://example.com/news
			stage 0ms 404 50ms..70ms
		}
		route /file {
			body_file some/file
			stage 0s 200
		}
		route /random {
			random_content 300KB..400kb
			stage 0s 200 {
				percent 12.5%
				fault reset 10
				bandwidth 100kb/s
				ramp
				header X-B 1
			}
			stage 10s 503 {
				body own
				dribble 10 5s
			}
			loop 1m
			start 2026-11-30T15:00:00Z
			seed 42
		}
		seed 43
		start 2026-11-30T16:00:00Z
	}`)
	var h Handler
	if err := h.UnmarshalCaddyfile(d); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"shop","recipe_files":["a.json","b.json","c.json","d.json","e.json"],"recipes":[` +
		`{"route":"/news*","origin":"https://example.com/news","stages":[{"at":0,"status":404,"latency":"50ms..70ms"}]},` +
		`{"route":"/file","body_file":"some/file","stages":[{"at":0,"status":200,"latency":0}]},` +
		`{"route":"/random","random_content":"300kb..400kb","stages":[` +
		`{"at":0,"status":200,"percent":12.5,"fault":"reset 10","bandwidth":"100kb/s","ramp":true,"headers":{"X-B":"1"},"latency":0},` +
		`{"at":"10s","status":503,"dribble":"10 5s","body":"own","latency":0}],"loop":"60s","start":"2026-11-30T15:00:00Z","seed":42},` +
		`{"route":"/*","body":"all <<5b>>","headers":{"X-A":["1","2"]},"stages":[{"at":0,"status":200,"latency":0},{"at":"5s","status":503,"latency":"lognormal(70ms,0.3)"}]}` +
		`],"admin":"/control","start":"2026-11-30T16:00:00Z","seed":43}`
	if text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(got)); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var again Handler
	if err := json.Unmarshal(got, &again); err != nil {
		t.Errorf("reading it again: %v", err)
	}
}

func TestAdminHasADefault(t *testing.T) {
	var h Handler
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("simulator {\n admin\n}")); err != nil || h.Admin != "/_admin" {
		t.Errorf("got %q, %v", h.Admin, err)
	}
}

// TestCaddyfileErrorsHaveALine holds that each names the file, the line and
// what is wrong.
func TestCaddyfileErrorsHaveALine(t *testing.T) {
	for _, tc := range []struct {
		lines, want string
		line        int // after the last of the lines
	}{
		{"stag 0 200", "unrecognized simulator option 'stag'", 1},
		{"body a\nbody b", "body already specified", 1},
		{"body a b", "wrong argument count", 1},
		{"body_file", "wrong argument count", 1},
		{"recipe", "wrong argument count", 1},
		{"route", "wrong argument count", 1},
		{"admin a b", "wrong argument count", 1},
		{"name", "wrong argument count", 1},
		{"stage 0", "parsing stage: expected a status, or a block of outcomes", 1},
		{"stage 0 200 5s 6s", "wrong argument count", 1},
		{"stage 5 200", "parsing stage: at: '5' is not a duration", 1},
		{"stage -5s 200", "parsing stage: at: must not be negative", 1},
		{"stage 0 abc", "parsing stage: status: 'abc' is not a number", 1},
		{"stage 0 200 fast", "parsing stage: latency: ", 1},
		{"stage 0 200 500", "parsing stage: latency: ", 1},
		{"stage 0 200 9s..8s", "parsing stage: latency: ", 1},
		{"stage 0 99", "parsing stage: status: 99 is not valid", 1},
		{"stage 0 200\nstage 0s 500", "stages[1].at: another stage begins at 0", 2},
		{"body x", "stages: a recipe has at least one stage", 2},
		{"body \"<<kb>>\"\nstage 0 200", "body: in <<kb>>: 'kb' is not a size", 2},
		{"body x\norigin http://a\nstage 0 200", "body: a recipe has one source of its body, and this one has origin too", 2},
		{"random_content 5", "parsing random_content: '5' is not a size", 1},
		{"header a", "wrong argument count", 1},
		{"header a: b", "parsing header: 'a:' is not a header field name", 1},
		{"route news {\nstage 0 200\n}", "route: 'news' does not begin with a slash", 1},
		{"route /* {\nstage 0 200\n}\nstage 0 200", "route /* has more than one recipe", 2},
		{"admin _admin", "parsing admin: '_admin' is not a path like /_admin", 1},
		{"admin /", "parsing admin: '/' is not a path like /_admin", 1},
		{"stage 0 200 {\npercent 101\n}", "parsing percent: '101'", 0},
		{"stage 0 200 {\npercent -1\n}", "parsing percent: '-1'", 0},
		{"stage 0 200 {\nfault\n}", "wrong argument count", 0},
		{"stage 0 200 {\nfault crash\n}", "parsing fault: 'crash' is not a fault", 0},
		{"stage 0 200 {\nfault reset 5 6\n}", "wrong argument count", 0},
		{"stage 0 200 {\nbandwidth 5kb\n}", "parsing bandwidth: '5kb'", 0},
		{"stage 0 200 {\ndribble 5\n}", "wrong argument count", 0},
		{"stage 0 200 {\ndribble x 5s\n}", "parsing dribble: 'x'", 0},
		{"stage 0 200 {\nbandwidth 1kb/s\ndribble 2 5s\n}", "parsing stage: dribble: there is a bandwidth already", 1},
		{"stage 0 200 {\nramp now\n}", "wrong argument count", 0},
		{"stage 0 200 {\nramp\n" + "ramp\n}", "ramp already specified", 0},
		{"stage 0 200 {\nstage 0 200\n}", "unrecognized stage option 'stage'", 0},
		{"stage 0 200 {\nramp\n}", "stages[0].ramp: no stage comes after", 2},
		{"stage 0 200\nstage 5s 200\nloop 5s", "loop: a period of 5s ends", 2},
		{"stage 0 200\nloop 0", "parsing loop: must be greater than 0", 1},
		{"seed -1", "parsing seed: '-1' is not a whole number", 1},
		{"seed 9007199254740992", "parsing seed: 9007199254740992 is not a whole number up to 9007199254740991", 1},
		{"start today", "parsing start: 'today' is not a time", 1},
		{"route /a {\nroute /b\n}", "unrecognized route option 'route'", 0},
		{"route /a {\nadmin\n}", "unrecognized route option 'admin'", 0},
	} {
		_, err := caddytest.Adapt("http://127.0.0.1:1 {\n simulator {\n" + tc.lines + "\n }\n}\n")
		line := 2 + strings.Count(tc.lines, "\n") + tc.line
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasSuffix(err.Error(), fmt.Sprintf(", at Caddyfile:%d", line)) {
			t.Errorf("%q: got error %v, want %q at line %d", tc.lines, err, tc.want, line)
		}
	}
}

// TestWhatIsWrongAtLoad holds what only shows when files are read.
func TestWhatIsWrongAtLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recipe.json")
	if err := os.WriteFile(file, []byte(`[{"stages":[{}]},{"route":"/a","stages":[{"latency":"fast"}]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "good.json")
	if err := os.WriteFile(good, []byte(`{"stages":[{}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REHEARSAL_RECIPE", good)
	for lines, want := range map[string]string{
		"simulator * " + file:                               "recipes[1].stages[0].latency",
		"simulator * /no/such.json":                         "/no/such.json",
		"simulator {env.NO_SUCH_VARIABLE}":                  "NO_SUCH_VARIABLE",
		"simulator * " + good + " {\n stage 0 200\n}":       "route /* has more than one recipe",
		"simulator {\n body_file /no/such\n stage 0 200\n}": "body_file",
		"simulator {\n admin control\n}":                    "admin: 'control'",
		"simulator {\n admin /\n}":                          "admin: '/'",
		"simulator {env.REHEARSAL_RECIPE}":                  "",
	} {
		err := caddytest.Validate(site("127.0.0.1:1", lines))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got error %v, want %q", lines, err, want)
		}
	}
}

// TestJSONConfigIsStrict holds for the recipes in Caddy's own JSON.
func TestJSONConfigIsStrict(t *testing.T) {
	for recipes, want := range map[string]string{
		`[{"stages":[{"latncy":0}]}]`:       "recipes[0].stages[0].latncy: unknown field",
		`{"stages":[{"latency":"fast"}]}`:   "recipes.stages[0].latency",
		`[{"stages":[{}]},{"stages":[{}]}]`: "route /* has more than one recipe",
		`[{"stages":[{}],"body":5}]`:        "recipes[0].body",
		`null,"recipe":[]`:                  "unknown field",
	} {
		s := caddytest.Run(t, "http://"+caddytest.Addr(t)+" {\n respond ok\n}")
		err := s.LoadJSON([]byte(`{"apps":{"http":{"servers":{"a":{"listen":["127.0.0.1:0"],"routes":[{"handle":[{"handler":"simulator","recipes":` + recipes + `}]}]}}}}}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", recipes, err)
		}
	}
}

// TestMissingFilesHaveALine holds that the line is told of a file that is not
// there, and the folder in which it was looked for.
func TestMissingFilesHaveALine(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	addr := caddytest.Addr(t)
	for lines, line := range map[string]int{
		"simulator {\n recipe caddyfile.go no-recipe.json\n}":         3,
		"simulator * no-argument.json":                                2,
		"simulator {\n admin\n mappings no-mappings\n}":               4,
		"simulator {\n stage 0 200\n body_file no-body\n}":            4,
		"simulator {\n route /a {\n body_file no-body-of-route\n}\n}": 4,
	} {
		s := caddytest.Run(t, site(addr, "respond ok"))
		if err := s.TryReload("http://" + addr + " {\n" + lines + "\n}\n"); err == nil {
			t.Errorf("%q: it is valid", lines)
		}
		want := fmt.Sprintf("no such file or directory (looked in %s), at Caddyfile:%d", here, line)
		if logs := s.Logs(); strings.Count(logs, "at Caddyfile:") != 1 || !strings.Contains(logs, want) {
			t.Errorf("%q: logged is %s, want %s", lines, logs, want)
		}
	}
}
