// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recipe"
)

// TestDocumentation holds that what the documentation shows is understood.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of JSON", len(blocks))
	}
	if _, err := recipe.Parse([]byte(blocks[0][1])); err != nil {
		t.Error(err)
	}
	handler := json.NewDecoder(bytes.NewReader([]byte(strings.Replace(blocks[1][1], `"handler": "simulator",`, "", 1))))
	handler.DisallowUnknownFields()
	if err := handler.Decode(new(Handler)); err != nil {
		t.Error(err)
	}
	first, _, _ := strings.Cut(string(text[bytes.Index(text, []byte("    :8080 {")):]), "\n\n")
	if err := caddytest.Validate(first); err != nil {
		t.Errorf("%v in\n%s", err, first)
	}
	for _, begin := range []string{"    stage 10s 503 lognormal", "    stage 0s {\n    \toutcome 503 80ms", "    route /busy {", "    route /cold {"} {
		_, block, found := strings.Cut(string(text), begin)
		if !found {
			t.Fatalf("no %q", begin)
		}
		block, _, _ = strings.Cut(begin+block, "\n\n")
		if err := caddytest.Validate(site("127.0.0.1:1", "simulator {", block, "}")); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
}
