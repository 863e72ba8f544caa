// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, text := range []string{`{}`, ` [1] `, `"[[["`, `null`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "1" + strings.Repeat(" ", LargestJSON-1)} {
		if _, ok := ParseJSON(text); !ok {
			t.Errorf("%.20s is no JSON", text)
		}
	}
	for _, text := range []string{``, ` `, `x`, `{a:1}`, `[1`, `[1] [2]`, `{"a":"b","c":[],"d":n,"":""`, `{"a":[],"b":n,"c":1}`, strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat("[", 1<<20), "1" + strings.Repeat(" ", LargestJSON)} {
		if got, ok := ParseJSON(text); ok {
			t.Errorf("%.20s became %v", text, got)
		}
		if ValidJSON(text) {
			t.Errorf("%.20s is valid", text)
		}
	}
}

// FuzzValidJSON holds that what counts as JSON is what encoding/json takes for it.
func FuzzValidJSON(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, -0.5e+7, true, false, null, "\u00e9\n\"", {}], "b": []}`, ` 1 `, `01`, `1.`, `-`, `.5`, `1e`, `1e+`, `1E-2`, `[1,]`, `{,}`, `{"a":1,}`,
		`{"a"}`, `{"a":}`, `{1:2}`, `[1 2]`, `tru`, `truex`, `nul`, "\"\x1f\"", "\"\xff\"", `"\x"`, `"\u12g4"`, `"\`, `"`, `[[]`, `[]]`, "\v1", "\ufeff1", ``, `--1`, `+1`, `"a"b`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if Nesting(text) > deepest || len(text) > LargestJSON {
			return
		}
		if got, want := ValidJSON(text), json.Valid([]byte(text)); got != want {
			t.Fatalf("%q: %v, with encoding/json %v", text, got, want)
		}
	})
}
