// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
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

// TestClosestOfThousands holds that the closest is found among mappings near
// the request's URL, not by looking at all.
func TestClosestOfThousands(t *testing.T) {
	set := parse(t, manyMappings(2000))
	for _, tc := range []struct{ target, want string }{
		{"/exact/1500x", "request.url: expected /exact/1500, got /exact/1500x"},
		{"/exact/1500?x=1", "request.url: expected /exact/1500, got /exact/1500?x=1"},
		{"/path/1500/y?x=1", "request.urlPath: expected /path/1500, got /path/1500/y"},
		{"/pattern/1500/7", "request.urlPathPattern: expected /pattern/1500/[a-z]+, got /pattern/1500/7"},
		{"/", "The closest is"},
		{"/zzz", "The closest is"},
		{"*", "The closest is"},
	} {
		r := newRequest(exchange{Method: "GET", Target: tc.target})
		r.split()
		if looked := len(set.near(r)); looked > mostNear+2*mostNeighbours {
			t.Errorf("%s: %d mappings are looked at", tc.target, looked)
		}
		if got := set.Closest(r); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q is not in\n%s", tc.target, tc.want, got)
		}
	}
	if got := set.Closest(newRequest(exchange{Method: "POST", Target: "/path/7?x=1"})); !strings.Contains(got, "request.method: expected GET, got POST") {
		t.Errorf("the method alone is wrong:\n%s", got)
	}
}

// TestManyMappingsOfOneURL holds that those whose URL matches are not all
// looked at either, and that the first of them come first.
func TestManyMappingsOfOneURL(t *testing.T) {
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprintf(`{"name":"%d","request":{"urlPath":"/one","bodyPatterns":[{"matchesJsonPath":"$.n%d"}]}}`, i, i))
	}
	set := parse(t, "["+strings.Join(list, ",")+"]")
	r := newRequest(exchange{Method: "POST", Target: "/one", Body: `{"n": 1}`})
	r.split()
	if looked := len(set.near(r)); looked > mostNear+2*mostNeighbours {
		t.Errorf("%d mappings are looked at", looked)
	}
	if got := set.Closest(r); !strings.Contains(got, "The closest is '999'") {
		t.Error(got)
	}
}

// TestClosestLeavesBodiesOfOtherURLsAlone holds that a body is not read for the
// sake of mappings with another URL.
func TestClosestLeavesBodiesOfOtherURLsAlone(t *testing.T) {
	set := parse(t, `[{"request":{"url":"/a","bodyPatterns":[{"equalToJson":{}}]}},{"name":"near","request":{"url":"/bc"}}]`)
	r := newRequest(exchange{Method: "POST", Target: "/b"})
	r.ReadBody = func() ([]byte, error) { panic("it is read") }
	if got := set.Closest(r); !strings.Contains(got, "'near'") {
		t.Error(got)
	}
}
