// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestSubstitutions(t *testing.T) {
	for _, tc := range []struct{ text, target, want string }{
		{"s/v1/v2/", "/v1/v1", "/v2/v1"},
		{"s/v1/v2/g", "/v1/v1", "/v2/v2"},
		{"s#/api/#/#", "/api/x?y=/api/", "/x?y=/api/"},
		{`s/\/a\/(\d+)/\/b\/\1-&/`, "/a/17?q", "/b/17-/a/17?q"},
		{`s|^|/base|`, "/x", "/base/x"},
		{`s/X/$1\&/i`, "/x", "/$1&"},
		{"s,none,x,", "/x", "/x"},
		{"s/x//", "/x/y", "//y"},
	} {
		s, err := ParseSubstitution(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := string(s.apply([]byte(tc.target))); got != tc.want {
			t.Errorf("%s: %s becomes %s, want %s", tc.text, tc.target, got, tc.want)
		}
	}
	for text, want := range map[string]string{
		"": "expected one like", "s": "expected one like", "s/a": "expected one like", "s/a/b": "expected one like", "s/a/b/c/": "expected one like",
		"s//b/": "expected one like", "sxaxbx": "expected one like", "y/a/b/": "expected one like", "s/a/b/x": "expected g or i", "s/(/b/": "missing closing",
	} {
		if _, err := ParseSubstitution(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %s", text, err, want)
		}
	}
}

func TestRewrittenTargetsStayTargets(t *testing.T) {
	first, _ := ParseSubstitution("s/a/b/")
	second, _ := ParseSubstitution("s/b/c d/")
	w := Rewriter{Targets: []Substitution{first}}
	var m Message
	r := &recording.Request{Method: []byte("GET"), URI: []byte("/a"), Host: []byte("h")}
	if err := w.Write(&m, r); err != nil || string(m.Target) != "/b" || !strings.HasPrefix(string(m.Bytes()), "GET /b HTTP/1.1\r\n") {
		t.Errorf("got %s, error %v", m.Target, err)
	}
	w.Targets = append(w.Targets, second)
	if err := w.Write(&m, r); http1.KindOf(err) != http1.Unsendable || !strings.Contains(err.Error(), "'/c d' is what --rewrite makes of '/a'") {
		t.Errorf("got error %v", err)
	}
}

func TestBasePathsComeBeforePaths(t *testing.T) {
	var m Message
	for target, want := range map[string]string{"/a?b": "GET /base/a?b HTTP/1.1\r\nHost: other\r\n", "*": "GET * HTTP/1.1\r\nHost: other\r\n"} {
		if err := new(Rewriter).Write(&m, &recording.Request{Method: []byte("GET"), URI: []byte(target), Host: []byte("h")}); err != nil {
			t.Fatal(err)
		}
		if got := string(m.addressed(nil, "/base", "other", len(m.wire))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", target, got)
		}
		if got := string(m.addressed(nil, "/base", "", len(m.wire))); !strings.HasPrefix(got, strings.Replace(want, "other", "h", 1)) {
			t.Errorf("%s: %q", target, got)
		}
	}
}
