// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"
	"testing"
	"time"
)

func TestRegexps(t *testing.T) {
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
		{"a(?=b)b", "ab", true, true, true},
		{"(?!a).", "b", true, true, true},
		{"(?<!a)b", "ab", false, false, false},
		{"a++b", "aab", true, true, true},
		{"a++ab", "aab", false, false, false},
		{`(a)\1`, "aa", true, true, true},
		{"[a[bc]]", "c", true, true, true},
		{`[\d[A-F]]{2}`, "1A", true, true, true},
		{`[\d[A-F]]{2}`, "1G", false, false, false},
		{"[a-z&&[^b]]", "c", true, true, true},
		{"[a-z&&[^b]]", "b", false, false, false},
		{"[^a[bc]]", "b", false, false, false},
		{"[^a[bc]]", "d", true, true, true},
		{`[a&&\Q[\Ea]`, "a", true, true, true},
		{"(?=a).c", "a\nc", false, false, false},
		{"(?=a).*c", "a\nc", false, false, true},
	} {
		for i, compile := range []func(string) (*Regexp, error){CompileRegexp, CompileWhole, CompileLines} {
			re, err := compile(tc.source)
			if err != nil {
				t.Errorf("%s: %v", tc.source, err)
				continue
			}
			want := []bool{tc.anywhere, tc.whole, tc.lines}[i]
			if got := re.Match(tc.text, budget()); got != want {
				t.Errorf("%s of %q, way %d: got %t", tc.source, tc.text, i, got)
			}
		}
	}
}

func TestRegexpsAreRefused(t *testing.T) {
	for _, source := range []string{"(", "(?<x)", "a{2}{3}*", "[a-z&&]", "[&&a]", strings.Repeat("[a", 30) + strings.Repeat("]", 30), `\p{javaLowerCase}`} {
		for _, compile := range []func(string) (*Regexp, error){CompileRegexp, CompileWhole, CompileLines} {
			if _, err := compile(source); err == nil || !strings.Contains(err.Error(), "the regular expression '"+source+"' is not supported: ") {
				t.Errorf("%s: got %v", source, err)
			}
		}
	}
}

// TestMatchesEnd holds that an expression that goes astray is given up, and
// that this is noticed.
func TestMatchesEnd(t *testing.T) {
	re, err := CompileWhole("(?=a)(a+)+b")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{strings.Repeat("a", 50), strings.Repeat("a", 2<<20)} {
		b := NewBudget(len(text))
		begun := time.Now()
		if re.Match(text, &b) || !b.Exceeded() || time.Since(begun) > 20*time.Second {
			t.Errorf("%d characters: %d steps are left after %s", len(text), b.left, time.Since(begun))
		}
		b = NewBudget(len(text))
		if _, found := re.Find(text, &b); found || !b.Exceeded() {
			t.Errorf("%d characters: %d steps are left", len(text), b.left)
		}
	}
	b := NewBudget(0)
	if found, ok := re.Find("xaab", &b); found != "" || ok {
		t.Errorf("found %q", found)
	}
	if re, err = CompileRegexp("(?<=x)a+"); err != nil {
		t.Fatal(err)
	}
	if found, ok := re.Find("xaab", &b); found != "aa" || !ok || b.Exceeded() {
		t.Errorf("found %q, %t", found, ok)
	}
}
