// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package livepage_test

import (
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/simulator/internal/livepage"
)

// TestFiles holds that everything of the page is served with its type, is read
// only, and that the page is bound to its own site.
func TestFiles(t *testing.T) {
	url := serve(t)
	types := map[string]string{"": "html", "html": "html", "css": "css", "js": "javascript", "json": "json", "svg": "svg+xml"}
	for _, path := range livepage.Paths() {
		status, header, body := ask(t, "GET", url+"/_admin"+path, "")
		_, extension, _ := strings.Cut(path, ".")
		if got := header.Get("Content-Type"); status != 200 || !strings.Contains(got, "/"+types[extension]) || body == "" {
			t.Errorf("%s: got %d %s %.50s", path, status, got, body)
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %v", path, header)
		}
		if status, _, _ := ask(t, "POST", url+"/_admin"+path, ""); status != 405 {
			t.Errorf("POST %s: got %d", path, status)
		}
	}
	_, header, body := ask(t, "GET", url+"/_admin/", "")
	policy := header.Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("no %s in %s", rule, policy)
		}
	}
	for _, no := range []string{"unsafe", "://", "style=", "onclick"} {
		if strings.Contains(policy+body, no) {
			t.Errorf("%s is in the page", no)
		}
	}
}

// TestPrefixLeadsToThePage holds for a prefix without its slash, whatever it is
// called, and that only the prefix itself is taken.
func TestPrefixLeadsToThePage(t *testing.T) {
	url := serve(t)
	if status, header, _ := ask(t, "GET", url+"/_admin", ""); status != 302 || header.Get("Location") != "_admin/" {
		t.Errorf("got %d to %s", status, header.Get("Location"))
	}
	if status, _, _ := ask(t, "GET", url+"/_admin/assets/page.js", ""); status != 404 {
		t.Errorf("got %d for a path that is none", status)
	}
}
