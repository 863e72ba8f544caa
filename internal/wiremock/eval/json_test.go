// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
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
