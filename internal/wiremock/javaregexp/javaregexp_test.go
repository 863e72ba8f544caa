// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package javaregexp

import (
	"regexp"
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	for _, tc := range []struct {
		source, text           string
		anywhere, whole, lines bool
	}{
		{"a.c", "abc", true, true, true},
		{"a.c", "xabc", true, false, false},
		{"a.c", "a\nc", false, false, true},
		{"a|abc", "abc", true, true, true},
		{"a$", "a\n", false, false, false},
		{`[\[\]]`, "[", true, true, true},
		{"[[:alpha:]]", "a", true, true, true},
		{"[^]a]", "b", true, true, true},
		{`\[a[b]`, "[ab", true, true, true},
		{"(?i)A", "a", true, true, true},
	} {
		for i, compile := range []func(string) (*regexp.Regexp, error){Compile, CompileWhole, CompileLines} {
			re, err := compile(tc.source)
			if err != nil {
				t.Errorf("%s: %v", tc.source, err)
				continue
			}
			want := []bool{tc.anywhere, tc.whole, tc.lines}[i]
			if got := re.MatchString(tc.text); got != want {
				t.Errorf("%s of %q, way %d: got %t", tc.source, tc.text, i, got)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, source := range []string{"(", "a(?=b)", "(?<!a)b", `(a)\1`, "a++", "[a-z&&[^b]]", "[a[bc]]", `\p{javaLowerCase}`} {
		for _, compile := range []func(string) (*regexp.Regexp, error){Compile, CompileWhole, CompileLines} {
			if _, err := compile(source); err == nil || !strings.Contains(err.Error(), "the regular expression '"+source+"' is not supported: ") {
				t.Errorf("%s: got %v", source, err)
			}
		}
	}
}
