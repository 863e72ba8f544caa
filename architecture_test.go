// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/caddy-rehearsal/rehearsal"

// parts meet in configuration only: none imports another.
var parts = []string{"simulator", "teehandler", "blackhole", "replaycmd", "queues", "stores"}

// pure are the packages, with those below them, that decide, read, write and
// compare and know neither Caddy nor a server. They can be reached from
// anywhere, and are tested without a configuration.
var pure = []string{
	"internal/units",
	"internal/latency",
	"internal/recording",
	"internal/coding",
	"internal/compare",
	"internal/conversation",
	"internal/endpoint",
	"internal/http1",
	"internal/jsonpath",
	"internal/learn",
	"internal/memfile",
	"internal/peertest",
	"internal/response",
	"internal/recipe",
	"internal/scenario",
	"internal/wiremock",
	"replaycmd/internal/chart",
	"replaycmd/internal/edit",
	"replaycmd/internal/follow",
	"replaycmd/internal/report",
	"replaycmd/internal/schedule",
	"replaycmd/internal/source",
	"replaycmd/internal/timeshift",
}

// servers are what a pure package never reaches, not even through others.
var servers = []string{
	"github.com/caddyserver",
	"github.com/valyala/fasthttp",
	module + "/internal/express",
}

// drivers are what only a store, the programs that have it and nobody else
// reaches, so that a build with the handlers alone stays small.
var drivers = []string{
	"gocloud.dev/blob/s3blob",
	"github.com/aws",
}

// protocols are what only queues and the programs that have them reach, as drivers.
// The benchmarks ask and answer with them.
var protocols = []string{"github.com/Azure/go-amqp"}

// knowsHTTP are the pure packages that reach net/http, each with the reason.
var knowsHTTP = map[string]string{
	"internal/coding":              "brotli's library, which has a helper for servers",
	"internal/compare":             "as internal/coding",
	"internal/compare/pairs":       "as internal/coding",
	"internal/compare/tally":       "as internal/coding",
	"internal/conversation":        "as internal/coding",
	"internal/peertest":            "requests that the bare servers of tests read",
	"internal/learn":               "cookies and names of header fields; as internal/coding",
	"internal/recipe":              "the status that a stage has by default",
	"internal/recording/recorder":  "as internal/coding",
	"internal/scenario":            "a client that fetches origins, methods and the texts of status codes; Prometheus' client",
	"internal/wiremock":            "http.Header, cookies and methods of requests, and the texts of status codes",
	"replaycmd/internal/report":    "as internal/coding",
	"replaycmd/internal/edit":      "as internal/coding",
	"replaycmd/internal/follow":    "as internal/coding",
	"replaycmd/internal/timeshift": "as internal/coding",
}

// TestArrows asks the go command for all packages and holds their imports to
// the rules above.
func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("listing imports: %v\n%s", err, out)
	}
	imports := make(importGraph)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		imports[fields[0]] = fields[1:]
	}
	for _, fault := range imports.faults() {
		t.Error(fault)
	}
	for pkg, reason := range knowsHTTP {
		if imports.chain(module+"/"+pkg, "net/http") == nil {
			t.Errorf("%s no longer reaches net/http: take it off the list (%s)", pkg, reason)
		}
	}
}

// importGraph holds the imports of each package, by path.
type importGraph map[string][]string

// faults returns a line for each arrow that the rules forbid, with the way it
// takes.
func (g importGraph) faults() []string {
	var faults []string
	for pkg, imports := range g {
		from, inside := strings.CutPrefix(pkg, module+"/")
		if !inside { // the root package imports the parts, so that a build gets them all
			continue
		}
		for _, to := range imports {
			if fault := forbidden(from, to); fault != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", from, to, fault))
			}
		}
		for part, guests := range map[string][]string{"stores": drivers, "queues": protocols} {
			if partOf(from) == part || from == "cmd/caddy" || from == "benchmarks" {
				continue
			}
			for _, guest := range guests {
				if way := g.chain(pkg, guest); way != nil {
					faults = append(faults, strings.Join(way, " → ")+": only "+part+" reach a driver")
				}
			}
		}
		if !anyIn(from, pure) {
			continue
		}
		for _, server := range servers {
			if way := g.chain(pkg, server); way != nil {
				faults = append(faults, strings.Join(way, " → ")+": a pure package reaches no server")
			}
		}
		if way := g.chain(pkg, "net/http"); way != nil && knowsHTTP[from] == "" {
			faults = append(faults, strings.Join(way, " → ")+": only listed pure packages reach net/http")
		}
	}
	slices.Sort(faults)
	return faults
}

// forbidden returns why one package of ours may not import another, or "".
func forbidden(from, to string) string {
	target, inside := strings.CutPrefix(to, module+"/")
	if !inside || from == "cmd/caddy" {
		return ""
	}
	part := partOf(target)
	switch {
	case part == "examples" || part == "benchmarks":
		return "nothing imports it"
	case strings.HasSuffix(target, "test") && !strings.HasSuffix(from, "test"):
		return "only tests import what helps them"
	case slices.Contains(parts, part) && !slices.Contains(parts, partOf(from)):
		return "what is shared never imports a handler or the command"
	case slices.Contains(parts, part) && part != partOf(from):
		return "parts compose in configuration and never import one another"
	}
	return ""
}

// chain returns the shortest way from a package to another, or to one below
// it, both ends included; nil if there is none.
func (g importGraph) chain(from, to string) []string {
	cameFrom := map[string]string{from: ""}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		pkg := next[0]
		if pkg != from && isIn(pkg, to) {
			way := []string{pkg}
			for pkg = cameFrom[pkg]; pkg != ""; pkg = cameFrom[pkg] {
				way = append(way, strings.TrimPrefix(pkg, module+"/"))
			}
			slices.Reverse(way)
			return way
		}
		for _, imported := range g[pkg] {
			if _, seen := cameFrom[imported]; !seen {
				cameFrom[imported] = pkg
				next = append(next, imported)
			}
		}
	}
	return nil
}

// isIn reports whether a package is folder or below it. net/http alone is
// meant without what is below it, which has no server.
func isIn(pkg, folder string) bool {
	return pkg == folder || folder != "net/http" && strings.HasPrefix(pkg, folder+"/")
}

func anyIn(pkg string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isIn(pkg, folder) })
}

// partOf returns the top-level folder that a package belongs to.
func partOf(pkg string) string {
	top, _, _ := strings.Cut(pkg, "/")
	return top
}

// TestMapHasEveryPackage holds docs/architecture.md to the packages that there
// are.
func TestMapHasEveryPackage(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile("`((?:[a-z]+/)?internal/[a-z0-9/]+)`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(name[1]); err != nil {
			t.Errorf("the map has a package that is none: %v", err)
		}
	}
	out, err := exec.Command("go", "list", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("listing packages: %v\n%s", err, out)
	}
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimPrefix(strings.TrimSpace(pkg), module+"/")
		part, below, nested := strings.Cut(pkg, "internal/")
		if !nested {
			continue
		}
		top, nestedName, deeper := strings.Cut(below, "/")
		if !strings.Contains(string(text), "`"+part+"internal/"+top+"`") || deeper && !strings.Contains(string(text), "`"+nestedName+"`") {
			t.Errorf("the map lacks %s", pkg)
		}
	}
}

// TestForbiddenArrowsAreFound adds single imports to a house that is in order,
// each of which has to be named with the way it takes.
func TestForbiddenArrowsAreFound(t *testing.T) {
	inOrder := func() importGraph {
		return importGraph{
			module:                                     {module + "/simulator", module + "/teehandler", module + "/replaycmd"},
			module + "/cmd/caddy":                      {module, module + "/queues"},
			module + "/simulator":                      {module + "/internal/recipe", module + "/internal/express", module + "/internal/record", "net/http", "github.com/caddyserver/caddy/v2"},
			module + "/teehandler":                     {module + "/internal/words"},
			module + "/internal/words":                 {"github.com/caddyserver/caddy/v2"},
			module + "/stores/s3":                      {"gocloud.dev/blob/s3blob"},
			"gocloud.dev/blob/s3blob":                  {"github.com/aws/aws-sdk-go-v2/service/s3"},
			module + "/replaycmd":                      {module + "/replaycmd/internal/source"},
			module + "/replaycmd/internal/source":      {module + "/internal/recording"},
			module + "/internal/express":               {"net/http", "github.com/valyala/fasthttp"},
			module + "/internal/record":                {"gocloud.dev/blob"},
			module + "/internal/recipe":                {module + "/internal/latency", "net/http"},
			module + "/internal/recording/recorder":    {module + "/internal/recording", "go.uber.org/zap"},
			module + "/internal/wiremock/jsonpath":     {"github.com/ohler55/ojg/jp", module + "/internal/latency"},
			module + "/internal/recording":             {"net/http/httpguts"},
			"github.com/caddyserver/caddy/v2":          {"net/http"},
			"github.com/prometheus/client_golang/http": {"net/http"},
		}
	}
	if faults := inOrder().faults(); faults != nil {
		t.Fatalf("nothing is wrong, and found was %q", faults)
	}
	for _, tc := range []struct{ from, to, want string }{
		{"simulator", module + "/blackhole", "simulator imports"},
		{"replaycmd/internal/source", module + "/teehandler", "never import one another"},
		{"teehandler", module + "/queues", "never import one another"},
		{"internal/words", module + "/simulator", "never imports a handler"},
		{"blackhole", "gocloud.dev/blob/s3blob", "blackhole → gocloud.dev/blob/s3blob: only stores"},
		{"simulator", "github.com/Azure/go-amqp", "simulator → github.com/Azure/go-amqp: only queues"},
		{"internal/record", "github.com/aws/aws-sdk-go-v2/aws", "simulator → internal/record → github.com/aws/aws-sdk-go-v2/aws: only stores"},
		{"internal/express", module + "/replaycmd/internal/source", "never imports a handler"},
		{"teehandler", module + "/examples/record", "nothing imports it"},
		{"simulator", module + "/replaycmd", "simulator imports"},
		{"simulator", module + "/internal/caddytest", "only tests import"},
		{"internal/recording/recorder", "github.com/caddyserver/caddy/v2", "internal/recording/recorder → github.com/caddyserver/caddy/v2"},
		{"internal/recording", module + "/internal/words", "internal/recording → internal/words → github.com/caddyserver/caddy/v2: a pure"},
		{"internal/recording", module + "/internal/words", "replaycmd/internal/source → internal/recording → internal/words → github.com/caddyserver/caddy/v2: a pure"},
		{"internal/wiremock/jsonpath", module + "/internal/express", "internal/wiremock/jsonpath → " + module + "/internal/express: a pure"},
		{"internal/latency", "github.com/valyala/fasthttp/fasthttputil", "internal/wiremock/jsonpath → internal/latency → github.com/valyala/fasthttp/fasthttputil"},
		{"internal/recording", "net/http", "internal/recording → net/http: only listed"},
		{"internal/recording", "github.com/prometheus/client_golang/http", "internal/recording → github.com/prometheus/client_golang/http → net/http: only listed"},
	} {
		graph := inOrder()
		from := module + "/" + tc.from
		graph[from] = append(slices.Clone(graph[from]), tc.to)
		faults := graph.faults()
		if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, tc.want) }) {
			t.Errorf("%s imports %s: found %q, want one with %q", tc.from, tc.to, faults, tc.want)
		}
	}
}
