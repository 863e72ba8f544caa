// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"strconv"
	"strings"
	"testing"
)

func TestMessages(t *testing.T) {
	const jsonType, htmlType = "application/json; charset=utf-8", "text/html; charset=utf-8"
	for _, tc := range []struct {
		name, recipe        string
		body, length, media string
	}{
		{"JSON", `"body":"{\"a\":1}","stages":[{}]`, `{"a":1}`, "7", jsonType},
		{"a list", `"body":" [1]","stages":[{}]`, " [1]", "4", jsonType},
		{"anything else", `"body":"hello","stages":[{}]`, "hello", "5", htmlType},
		{"own type", `"body":"{}","headers":{"content-type":"a/b"},"stages":[{}]`, "{}", "2", "a/b"},
		{"own type of an error", `"body":"{}","headers":{"content-type":"a/b"},"stages":[{"status":404}]`, "Not found", "9", "a/b"},
		{"404", `"body":"{}","stages":[{"status":404}]`, "Not found", "9", htmlType},
		{"503", `"body":"{}","stages":[{"status":503}]`, "Error 503", "9", htmlType},
		{"302", `"body":"{}","stages":[{"status":302}]`, "Error 302", "9", htmlType},
		{"201", `"body":"{}","stages":[{"status":201}]`, "{}", "2", jsonType},
		{"204", `"body":"{}","stages":[{"status":204}]`, "", "", ""},
		{"205", `"body":"{}","stages":[{"status":205}]`, "", "0", ""},
		{"304", `"body":"{}","stages":[{"status":304}]`, "", "", ""},
		{"no source", `"stages":[{}]`, "", "0", ""},
		{"empty body", `"body":"","stages":[{}]`, "", "0", ""},
		{"nothing random", `"random_content":"0b","stages":[{}]`, "", "0", ""},
	} {
		a := ask(t, play(t, "{"+tc.recipe+"}"), "/")
		if bodyOf(a) != tc.body || a.Length != tc.length || field(a, "Content-Type") != tc.media {
			t.Errorf("%s: got %q, length %q, type %q", tc.name, bodyOf(a), a.Length, field(a, "Content-Type"))
		}
	}
}

// TestGzip holds that what a recipe calls gzipped is so, once, and what is
// empty is not called so.
func TestGzip(t *testing.T) {
	const headers = `"headers":{"content-encoding":"gzip"},`
	for _, tc := range []struct{ recipe, want string }{
		{`"body":"hello","stages":[{}]`, "hello"},
		{`"body":"hello","stages":[{"status":404}]`, "Not found"},
		{`"body":"","stages":[{}]`, ""},
		{`"stages":[{}]`, ""},
		{`"body":"hello","stages":[{"status":204}]`, ""},
		{`"random_content":"0b","stages":[{}]`, ""},
	} {
		a := ask(t, play(t, "{"+headers+tc.recipe+"}"), "/")
		if tc.want == "" {
			if field(a, "Content-Encoding") != "" || a.Content.Size != 0 {
				t.Errorf("%s: the empty body is encoded as %q", tc.recipe, field(a, "Content-Encoding"))
			}
			continue
		}
		if got := unzip(t, a); got != tc.want || field(a, "Content-Encoding") != "gzip" || a.Length != strconv.Itoa(len(bodyOf(a))) {
			t.Errorf("%s: got %q, encoded as %q", tc.recipe, got, field(a, "Content-Encoding"))
		}
	}
}

func TestHeaders(t *testing.T) {
	a := ask(t, play(t, `{"body":"x","headers":{"connection":"keepalive","x-a":["1","2"]},"stages":[{}]}`), "/")
	if a.Fields[0].Name != "Connection" || !a.Fields[0].Hop || a.Fields[1].Name != "X-A" || len(a.Fields[1].Values) != 2 || a.Lines != 4 {
		t.Errorf("got %+v", a.Fields)
	}
}

func TestHolesAreFilled(t *testing.T) {
	body := bodyOf(ask(t, play(t, `{"body":"<<128b>>and<<16b>>","stages":[{}]}`), "/"))
	left, right, ok := strings.Cut(body, "and")
	if !ok || len(left) != 128 || len(right) != 16 || strings.HasPrefix(left, right) {
		t.Errorf("got %q", body)
	}
}
