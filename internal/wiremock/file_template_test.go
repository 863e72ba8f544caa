// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfBodyFilesAreRendered holds which file a request gets, and that no
// request gets one from elsewhere.
func TestNamesOfBodyFilesAreRendered(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{"__files/a.txt": "{{request.query.q}} a", "__files/in/b.txt": "b", "secret.txt": "secret"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const mapping = `[{"request":{"urlPath":"/t"},"response":{"bodyFileName":"{{request.query.f}}","headers":{"X-A":"b"},"transformers":["response-template"]}},
		{"request":{"urlPath":"/plain"},"response":{"bodyFileName":"{{request.query.f}}","transformers":["response-template"],"transformerParameters":{"disableBodyFileTemplating":true}}}]`
	mappings, err := Parse([]byte(mapping), "stubs.json", root)
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(mappings)
	for _, tc := range []struct {
		target, body string
		status       int
	}{
		{"/t?f=a.txt&q=1", "1 a", 200},
		{"/t?f=a.txt&q=2", "2 a", 200},
		{"/t?f=/in/b.txt", "b", 200},
		{"/plain?f=a.txt&q=1", "{{request.query.q}} a", 200},
		{"/t?f=none.txt", "Not found in blob store: none.txt", 500},
		{"/t?f=../secret.txt", "Not found in blob store: ../secret.txt", 500},
		{"/t?f=in/../../secret.txt", "Not found in blob store: in/../../secret.txt", 500},
		{"/t?f=", "Not found in blob store: ", 500},
	} {
		if got := answer(t, set, exchange{Method: "GET", Target: tc.target}); got.Status != tc.status || got.Body != tc.body {
			t.Errorf("%s: got %d %q", tc.target, got.Status, got.Body)
		}
	}
}

// TestTemplatesOfAllMappings holds that a loader has templates of all mappings
// rendered, and that otherwise one is told what is sent as it is.
func TestTemplatesOfAllMappings(t *testing.T) {
	const mapping = `{"request":{"urlPath":"/t"},"response":{"body":"{{request.method}}{{nosuch}}","headers":{"X":"{{request.method}}"}}}`
	for _, tc := range []struct {
		on       bool
		body     string
		warnings string
	}{
		{true, "GET", "response.body: nothing is written for {{nosuch}}"},
		{false, "{{request.method}}{{nosuch}}", "response.headers.X: {{ is sent as it is; response.body: {{ is sent as it is"},
	} {
		var warnings []string
		loader := Loader{Templates: tc.on, Warn: func(warning error) { warnings = append(warnings, warning.Error()) }}
		mappings, err := loader.Parse([]byte(mapping), "stubs.json", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := answer(t, NewSet(mappings), exchange{Method: "GET", Target: "/t"}); got.Body != tc.body {
			t.Errorf("%t: got %s", tc.on, got.Body)
		}
		wanted := strings.Split(tc.warnings, "; ")
		if len(warnings) != len(wanted) {
			t.Fatalf("%t: got %q", tc.on, warnings)
		}
		for i, want := range wanted {
			if !strings.Contains(warnings[i], want) {
				t.Errorf("%t: got %s, want %s", tc.on, warnings[i], want)
			}
		}
	}
}
