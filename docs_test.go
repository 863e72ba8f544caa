// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestCaddyfilesInDocs adapts what readers copy. A snippet without a site
// address stands for what goes inside of one.
func TestCaddyfilesInDocs(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fence.FindAllStringSubmatch(string(text), -1) {
			seen++
			snippet := match[1]
			if formatted := string(caddyfile.Format([]byte(snippet))); formatted != snippet {
				t.Errorf("%s: caddy fmt would change this snippet:\n%s\nto:\n%s", page, snippet, formatted)
			}
			if _, err := caddytest.Adapt(snippet); err != nil {
				if _, inside := caddytest.Adapt("http://127.0.0.1:8080 {\n" + snippet + "}\n"); inside != nil {
					t.Errorf("%s: %v\nand inside of a site: %v\n%s", page, err, inside, snippet)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no snippet was found")
	}
}

var fence = regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```$")

// TestExamples holds every Caddyfile under examples to what `caddy fmt` and
// `caddy validate` say, from its own folder as a user would.
func TestExamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"examples/*/Caddyfile", "examples/*/*.Caddyfile", "examples/*/*/Caddyfile", "examples/*/*/*.Caddyfile"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no example was found")
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "examples/"), func(t *testing.T) {
			t.Chdir(filepath.Dir(file))
			text, err := os.ReadFile(filepath.Base(file))
			if err != nil {
				t.Fatal(err)
			}
			if string(caddyfile.Format(text)) != string(text) {
				t.Error("caddy fmt would change it")
			}
			if err := caddytest.Validate(string(text)); err != nil {
				t.Error(err)
			}
		})
	}
}
