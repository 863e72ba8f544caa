// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"net/http"
	"strings"
	"testing"
)

func TestBasesAreNoPartOfRedirects(t *testing.T) {
	for location, want := range map[string]string{
		"/v2/a?b#c":              "/a?b#c",
		"/v2":                    "/",
		"/v2?b":                  "/?b",
		"/v2x/a":                 "/v2x/a",
		"/a/v2/b":                "/a/v2/b",
		"a":                      "a",
		"http://host/v2/a":       "http://host/a",
		"http://host":            "http://host",
		"http://host/a?u=x://v2": "http://host/a?u=x://v2",
	} {
		if got := pathWithoutBase(location, "/v2"); got != want {
			t.Errorf("%s: got %s, want %s", location, got, want)
		}
	}
	const fields = "A: 1\r\nlocation: /v2/a\r\nB: 2\r\n"
	if got := string(withoutBase([]byte(fields), "/v2")); got != "A: 1\r\nlocation: /a\r\nB: 2\r\n" {
		t.Errorf("got %s", got)
	}
	if got := string(withoutBase([]byte(fields), "/v3")); got != fields {
		t.Errorf("got %s", got)
	}
}

// Two versions below paths of their own answer alike if what they redirect to is
// there as well.
func TestRedirectsBelowBasesAreCompared(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		base, _, _ := strings.Cut(r.URL.Path[1:], "/")
		w.Header().Set("Location", "/"+base+"/next")
		w.WriteHeader(http.StatusSeeOther)
	})
	rec := write(t, "rec.fbf", 30, 0)
	for new, want := range map[string]string{"/v2": "ok     new: diffs=0 is 0", "": "FAILED new: diffs=0 is"} {
		o := replay(t, "--compare=old", "--to", "old="+s.url+"/v1", "--to", "new="+s.url+new, "--max", "--fail", "diffs=0", rec)
		if !strings.Contains(o.stdout, want) {
			t.Errorf("new at '%s': %+v", new, o)
		}
	}
}
