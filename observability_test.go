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
	caddytest.SetS3Credentials(t)
	site, shadow, metrics := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	caddytest.Run(t, fmt.Sprintf(`http://%[1]s {
		tee http://%[2]s {
			name seen
			compare
			record %[4]s/conversations {
				store s3://bucket?endpoint=http://127.0.0.1:1
			}
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
			record %[4]s/requests {
				store s3://bucket?endpoint=http://127.0.0.1:1
			}
		}
	}
	http://%[3]s {
		metrics
	}`, site, shadow, metrics, t.TempDir()))
	named := namedMetrics(t)
	var served string
	var missing []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for range 3 {
			fetch(t, "http://"+site+"/")
		}
		served = fetch(t, "http://"+metrics+"/metrics")
		missing = slices.DeleteFunc(slices.Clone(named), func(name string) bool {
			return regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(served)
		})
		if len(missing) == 0 {
			break
		}
	}
	if len(missing) > 0 {
		t.Fatalf("dashboards or rules name what is not served: %v", missing)
	}
	for _, expression := range expressions(t) {
		for _, fault := range unknownLabels(expression, served) {
			t.Errorf("%s in %s", fault, expression)
		}
	}
}

// TestUnknownLabelsAreFound has the check of labels find what is wrong.
func TestUnknownLabelsAreFound(t *testing.T) {
	const served = `caddy_a_total{kind="x",tee="y"} 1` + "\n" + `caddy_b_seconds_bucket{tee="y",le="1"} 1` + "\n" + `caddy_c_total 1`
	for expression, want := range map[string]int{
		`sum by (tee, kind) (rate(caddy_a_total{instance=~"$i",kind!="a,b=c"}[5m]))`: 0,
		`sum by (te) (caddy_a_total)`: 1,
		`caddy_a_total{kinds="x"}`:    1,
		`histogram_quantile(0.9, sum by (le, kind) (caddy_b_seconds_bucket))`:                      1,
		`sum by (tee) (caddy_c_total)`:                                                             1,
		`sum by (kind) (caddy_a_total) / sum by (kind) (caddy_b_seconds_bucket{kind="x",tee="y"})`: 2,
		`sum(caddy_a_total) by (knd)`:                                                              1,
	} {
		if got := unknownLabels(expression, served); len(got) != want {
			t.Errorf("%s: %q", expression, got)
		}
	}
}

var (
	aggregation = regexp.MustCompile(`\b(?:by|on|without)\s*\(([^)]*)\)`)
	selector    = regexp.MustCompile(`\b(caddy_[a-z_]+)\b(?:\{((?:[^"}]|"[^"]*")*)\})?`)
	matcher     = regexp.MustCompile(`([a-zA-Z_]+)\s*(?:=~|!~|!=|=)\s*"[^"]*"`)
)

// unknownLabels returns the labels in an expression that its metrics do not have
// as they are served. Those of recording rules and what Prometheus adds itself
// are not looked at. What is summed by has to be a label of each metric up to the
// next sum.
func unknownLabels(expression, served string) (faults []string) {
	known := func(metric, label string) bool {
		if label == "instance" || label == "job" {
			return true
		}
		return regexp.MustCompile(`(?m)^` + metric + `\{(.*,)?` + label + `="`).MatchString(served)
	}
	groups := aggregation.FindAllStringSubmatchIndex(expression, -1)
	for _, s := range selector.FindAllStringSubmatchIndex(expression, -1) {
		metric := expression[s[2]:s[3]]
		if strings.Contains(expression[max(0, s[0]-1):s[0]]+expression[s[1]:min(len(expression), s[1]+1)], ":") {
			continue // the name of a rule has it
		}
		if s[4] >= 0 {
			for _, m := range matcher.FindAllStringSubmatch(expression[s[4]:s[5]], -1) {
				if !known(metric, m[1]) {
					faults = append(faults, metric+" has no label "+m[1])
				}
			}
		}
		var by []int // the last one before the metric, else the first behind it
		for _, group := range groups {
			if by == nil || group[0] < s[0] {
				by = group
			}
		}
		if by == nil {
			continue
		}
		for label := range strings.SplitSeq(expression[by[2]:by[3]], ",") {
			if label = strings.TrimSpace(label); !known(metric, label) {
				faults = append(faults, metric+" has no label "+label)
			}
		}
	}
	return faults
}

// expressions returns those of dashboards and rules.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("rules/rehearsal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		indent, expression, found := strings.Cut(line, "expr: ")
		if !found || strings.TrimSpace(indent) != "" {
			continue
		}
		if expression == "|" {
			expression = ""
			for _, more := range lines[i+1:] {
				if !strings.HasPrefix(more, indent+" ") {
					break
				}
				expression += strings.TrimSpace(more) + " "
			}
		}
		all = append(all, expression)
	}
	boards, _ := filepath.Glob("dashboards/*.json") // the pattern is valid
	for _, name := range boards {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`"expr":\s*("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(text), -1) {
			var expression string
			if err := json.Unmarshal([]byte(match[1]), &expression); err != nil {
				t.Fatal(err)
			}
			all = append(all, expression)
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d expressions", len(all))
	}
	return all
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
