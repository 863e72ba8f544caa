// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestDashboardsAndRulesNameMetricsThatExist has every part do something in a real
// Caddy, and looks for the metrics that dashboards and rules name, with the labels
// by which they sum, among those that it serves.
func TestDashboardsAndRulesNameMetricsThatExist(t *testing.T) {
	site, shadow, metrics := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, fmt.Sprintf(`http://%[1]s {
		tee http://%[2]s {
			name seen
			compare
			record %[4]s/conversations
		}
		simulator {
			name seen
			express
			stage 0s {
				outcome 503 1ms {
					first 1 by header X-User
				}
				outcome 200 1ms
			}
		}
	}
	http://%[2]s {
		blackhole {
			name seen
			record %[4]s/requests
		}
	}
	http://%[3]s {
		metrics
	}`, site, shadow, metrics, t.TempDir()))
	named := namedMetrics(t)
	var missing []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for range 3 {
			fetch(t, "http://"+site+"/")
		}
		served := fetch(t, "http://"+metrics+"/metrics")
		missing = slices.DeleteFunc(slices.Clone(named), func(name string) bool {
			return regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(served)
		})
		if len(missing) == 0 {
			return
		}
	}
	t.Errorf("dashboards or rules name what is not served: %v", missing)
}

// namedMetrics returns the names of metrics in dashboards and rules.
func namedMetrics(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob("dashboards/*.json") // the pattern is valid
	rules, _ := filepath.Glob("rules/*.yaml")
	if len(files) == 0 || len(rules) == 0 {
		t.Fatal("there are no dashboards or no rules")
	}
	var named []string
	for _, name := range append(files, rules...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".json" && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
		for _, match := range regexp.MustCompile(`(^|[^a-z:_])(caddy_[a-z_]+[a-z])\b`).FindAllStringSubmatch(string(text), -1) {
			named = append(named, match[2])
		}
	}
	slices.Sort(named)
	return slices.DeleteFunc(slices.Compact(named), func(name string) bool { return strings.Count(name, "_") < 2 })
}

// fetch returns the body of an answer.
func fetch(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
