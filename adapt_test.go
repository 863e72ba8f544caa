// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	_ "github.com/caddy-rehearsal/rehearsal/queues" // as cmd/caddy has it, and what follows
	_ "github.com/caddy-rehearsal/rehearsal/stores/s3"
)

var update = flag.Bool("update", false, "write what the adapter makes into testdata/adapt")

// goldens are Caddyfiles, each with a line of dashes and the JSON or the error
// that Caddy's adapter makes of it.
const (
	goldens   = "testdata/adapt/*.caddyfiletest"
	separator = "\n----------\n"
)

// TestAdapt adapts each golden's Caddyfile and compares to the last byte.
func TestAdapt(t *testing.T) {
	for name, golden := range readGoldens(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			input, want, _ := strings.Cut(golden, separator)
			got := adapted(t, input+"\n")
			if *update {
				if err := os.WriteFile(name, []byte(input+separator+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("adapted to\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// adapted returns the indented JSON of a Caddyfile, or the error.
func adapted(t *testing.T, input string) string {
	t.Helper()
	config, err := caddytest.Adapt(input)
	if err != nil {
		return err.Error() + "\n"
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, config, "", "\t"); err != nil {
		t.Fatal(err)
	}
	return indented.String() + "\n"
}

func readGoldens(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(goldens)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, error %v", goldens, len(names), err)
	}
	texts := make(map[string]string)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// TestEveryOptionHasAGolden asks each block for its options, by giving one that
// is unknown, and looks for each in a Caddyfile that is adapted to JSON.
func TestEveryOptionHasAGolden(t *testing.T) {
	blocks := map[string]string{
		"simulator":       "simulator {\n%\n}",
		"route":           "simulator {\nroute /a {\n%\n}\n}",
		"stage":           "simulator {\nstage 0s 200 {\n%\n}\n}",
		"outcome":         "simulator {\nstage 0s {\noutcome 200 {\n%\n}\n}\n}",
		"tee":             "tee http://127.0.0.1:1 {\n%\n}",
		"blackhole":       "blackhole {\n%\n}",
		"record":          "blackhole {\nrecord recordings {\n%\n}\n}",
		"on_miss":         "simulator {\non_miss http://127.0.0.1:1 {\n%\n}\n}",
		"mappings_admin":  "simulator {\nmappings_admin {\n%\n}\n}",
		"queue_simulator": "queue_simulator {\n%\n}",
		"broker":          "queue_simulator {\nbroker mq amqp://mq {\n%\n}\n}",
		"tls":             "queue_simulator {\nbroker mq amqp://mq {\ntls {\n%\n}\n}\n}",
		"service":         "queue_simulator {\nservice orders {\n%\n}\n}",
		"compare":         "tee http://127.0.0.1:1 {\ncompare {\n%\n}\n}",
	}
	good := make(map[string]string) // the blocks of each name in all goldens
	for _, golden := range readGoldens(t) {
		input, output, _ := strings.Cut(golden, separator)
		if !strings.HasPrefix(output, "{") {
			continue
		}
		for name := range blocks {
			for _, begin := range regexp.MustCompile(`(?m)^\s*`+name+`\b.*\{$`).FindAllStringIndex(input, -1) {
				good[name] += block(input[begin[1]:])
			}
		}
	}
	for name, text := range blocks {
		site := "http://127.0.0.1:1 {\n%\n}\n"
		if strings.HasPrefix(text, "queue_simulator") {
			site = "{\n%\n}\n"
		}
		_, err := caddytest.Adapt(strings.Replace(site, "%", strings.Replace(text, "%", "no_such_option", 1), 1))
		if err == nil {
			t.Fatalf("%s takes any option", name)
		}
		_, list, found := strings.Cut(err.Error(), "unrecognized "+name+" option 'no_such_option': expected one of ")
		if !found {
			t.Fatalf("%s does not list its options: %v", name, err)
		}
		list, _, _ = strings.Cut(list, ", at ")
		for option := range strings.SplitSeq(list, ", ") {
			if !regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(option) + `\b`).MatchString(good[name]) {
				t.Errorf("no golden has %s in a block of %s", option, name)
			}
		}
	}
}

// block returns what stands before the brace that ends a block, without the
// blocks inside of it.
func block(text string) string {
	var lines []string
	depth := 1
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "}") {
			depth--
		}
		if depth == 0 {
			break
		}
		if depth == 1 {
			lines = append(lines, line)
		}
		if strings.HasSuffix(trimmed, "{") {
			depth++
		}
	}
	return strings.Join(lines, "")
}
