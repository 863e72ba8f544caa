// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/caddy-rehearsal/rehearsal/"

// handlers are the parts that meet in configuration only.
var handlers = []string{"simulator", "teehandler", "blackhole", "replaycmd"}

// TestArrows holds which folder may import which.
func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("listing imports: %v\n%s", err, out)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, inside := strings.CutPrefix(fields[0], module)
		if !inside { // the root package imports every part
			continue
		}
		for _, to := range fields[1:] {
			if fault := forbidden(from, to); fault != "" {
				t.Errorf("%s imports %s: %s", from, to, fault)
			}
			seen++
		}
	}
	if seen == 0 {
		t.Fatal("no imports were looked at")
	}
}

func forbidden(from, to string) string {
	target, inside := strings.CutPrefix(to, module)
	if inside {
		part := partOf(target)
		switch {
		case part == "examples" || part == "benchmarks":
			return "nothing imports it"
		case isHandler(part) && (partOf(from) == "caddyfile" || partOf(from) == "internal"):
			return "caddyfile and internal never import a handler or the command"
		case isHandler(part) && part != partOf(from):
			return "handlers compose in configuration and never import one another"
		}
		return ""
	}
	if path.Dir(from) == "internal" && from != "internal/express" && from != "internal/metrics" && from != "internal/caddytest" {
		if strings.HasPrefix(to, "github.com/caddyserver/") || to == "net/http" || strings.HasPrefix(to, "github.com/valyala/") {
			return "it knows no Caddy and no HTTP server"
		}
	}
	return ""
}

// partOf gives the top-level folder that a package belongs to.
func partOf(pkg string) string {
	top, _, _ := strings.Cut(pkg, "/")
	return top
}

func isHandler(part string) bool { return slices.Contains(handlers, part) }

func TestForbiddenArrowsAreFound(t *testing.T) {
	for _, tc := range []struct{ from, to string }{
		{"simulator", module + "blackhole"},
		{"replaycmd/internal/report", module + "teehandler"},
		{"caddyfile", module + "simulator"},
		{"internal/latency", module + "simulator/recipe"},
		{"internal/recording", "net/http"},
		{"blackhole", module + "examples"},
	} {
		if forbidden(tc.from, tc.to) == "" {
			t.Errorf("%s may import %s", tc.from, tc.to)
		}
	}
	for _, tc := range []struct{ from, to string }{
		{"simulator", module + "internal/recipe"},
		{"replaycmd", module + "internal/recording"},
		{"teehandler", module + "caddyfile"},
		{"internal/express", "net/http"},
	} {
		if fault := forbidden(tc.from, tc.to); fault != "" {
			t.Errorf("%s may not import %s: %s", tc.from, tc.to, fault)
		}
	}
}
