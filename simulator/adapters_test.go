// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

func TestAdapterServes(t *testing.T) {
	const recipe = `{"body":"<<1kb>>","stages":[{"at":0,"status":201,"latency":0}]}`
	for _, list := range []string{recipe, "[" + recipe + "]"} {
		addr := caddytest.Addr(t)
		config, _, err := caddyconfig.GetAdapter("recipe").Adapt([]byte(fmt.Sprintf(`{"listen":%q,"recipes":%s}`, addr, list)), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := caddytest.Run(t, "{\n}")
		if err := s.LoadJSON(config); err != nil {
			t.Fatal(err)
		}
		if status, body := get(t, "http://"+addr+"/any"); status != 201 || len(body) != 1024 {
			t.Errorf("got %d, %d bytes", status, len(body))
		}
		wantStatus(t, "http://"+addr+"/_admin/status", 200)
	}
}

func TestAdapterListensOn8080(t *testing.T) {
	for _, body := range []string{`{"stages":[{}]}`, `[{"stages":[{}]}]`, `{"recipes":[{"stages":[{}]}]}`} {
		config, warnings, err := recipeAdapter{}.Adapt([]byte(body), nil)
		if err != nil || len(warnings) > 0 || !json.Valid(config) {
			t.Fatalf("%s: got %v, %v", body, err, warnings)
		}
		if !strings.Contains(string(config), `"listen":["127.0.0.1:8080"]`) || !strings.Contains(string(config), `"admin":"/_admin"`) {
			t.Errorf("%s: got %s", body, config)
		}
	}
}

func TestAdapterNamesTheFieldAtFault(t *testing.T) {
	for body, want := range map[string]string{
		`{"stages":[{"at":"x"}]}`:                     "stages[0].at: ",
		`[{"stages":[{}]},{}]`:                        "recipes[1].stages: ",
		`{"listen":":1","recipes":[{"stages":[]}]}`:   "recipes[0].stages: ",
		`{"listen":":1","recipes":{"stages":[{"x"`:    "is not valid JSON: line 1",
		`{"listen":":1","recipe":[]}`:                 "recipe: unknown field",
		`{"listen":8080,"recipes":[{"stages":[{}]}]}`: "listen: expected text",
		"": "is not valid JSON: line 1",
	} {
		if _, _, err := (recipeAdapter{}).Adapt([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", body, err, want)
		}
	}
}
