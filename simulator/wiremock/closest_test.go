// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	set := parse(t, `[
		{"name":"pay","request":{"method":"POST","url":"/pay","headers":{"X-Key":{"equalTo":"k"}},"bodyPatterns":[{"equalToJson":{"sum":1}}]}},
		{"name":"other","request":{"method":"GET","urlPath":"/other"}}]`)
	for _, tc := range []struct {
		request exchange
		want    []string
	}{
		{
			exchange{Method: "POST", Target: "/pay", Body: `{"sum":2}`},
			[]string{
				"No mapping matches POST /pay", "The closest is 'pay' in stubs.json",
				"request.headers.X-Key: expected equalTo 'k', got absent",
				`request.bodyPatterns[0]: expected equalToJson {"sum":1}, got '{"sum":2}'`,
			},
		},
		{
			exchange{Method: "GET", Target: "/othre?x=1"},
			[]string{"The closest is 'other'", "request.urlPath: expected /other, got /othre"},
		},
		{
			exchange{Method: "PUT", Target: "/other"},
			[]string{"The closest is 'other'", "request.method: expected GET, got PUT"},
		},
	} {
		got := set.Closest(newRequest(tc.request))
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %q is not in\n%s", tc.request.Method, tc.request.Target, want, got)
			}
		}
	}
	if got := set.Closest(newRequest(exchange{Method: "POST", Target: "/pay", Body: strings.Repeat("é", 5000)})); len(got) > 700 {
		t.Errorf("a large body makes a text of %d bytes", len(got))
	}
	if got := parse(t, "[]").Closest(newRequest(exchange{Method: "GET", Target: "/"})); !strings.Contains(got, "No mapping matches GET /") {
		t.Error(got)
	}
}
