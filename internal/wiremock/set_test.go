// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func parse(t testing.TB, data string) *Set {
	t.Helper()
	mappings, err := Parse([]byte(data), "stubs.json", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	return NewSet(mappings)
}

func matchName(t testing.TB, set *Set, e exchange) string {
	t.Helper()
	m, err := set.Match(newRequest(e))
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return ""
	}
	return m.Name()
}

// TestEveryWayToAURLKeepsTheOrder holds that mappings found by different
// indexes are tried in one order.
func TestEveryWayToAURLKeepsTheOrder(t *testing.T) {
	ways := []string{
		`"url":"/a/b?c=d"`, `"urlPath":"/a/b"`, `"urlPattern":"/a/.*"`, `"urlPathPattern":"/a/b"`,
		`"urlPattern":"/.*"`, `"urlPathPattern":".*"`, `"urlPathTemplate":"/a/{x}"`, `"urlPathPattern":"(/x|/a/b)"`, ``,
	}
	for i := range ways {
		var list []string
		for j := range ways {
			condition := ways[(i+j)%len(ways)]
			list = append(list, fmt.Sprintf(`{"name":"%d","priority":%d,"request":{%s}}`, j, j+1, condition))
		}
		for first := range list {
			set := parse(t, "["+strings.Join(list[first:], ",")+"]")
			if got := matchName(t, set, exchange{Method: "GET", Target: "/a/b?c=d"}); got != fmt.Sprint(first) {
				t.Errorf("turned by %d without the first %d: got %s", i, first, got)
			}
		}
	}
}

func TestAmongEqualsTheLastWins(t *testing.T) {
	set := parse(t, `[{"name":"a","request":{"url":"/"}},{"name":"b","request":{"urlPattern":"/"}},{"name":"c","request":{"urlPath":"/"}}]`)
	if got := matchName(t, set, exchange{Method: "GET", Target: "/"}); got != "c" {
		t.Errorf("got %s", got)
	}
}

// TestMappingsAskForPlaces has mappings ask for the same place of a body and, between
// them, for another one.
func TestMappingsAskForPlaces(t *testing.T) {
	var list []string
	for i, condition := range []string{
		`{"expression":"$.a","equalTo":"1"}`, `{"expression":"$.a","equalTo":"2"}`, `{"expression":"$.b","equalTo":"1"}`,
		`{"expression":"$.a","equalTo":"3"}`, `{"expression":"$.c","absent":"(absent)"}`,
	} {
		list = append(list, fmt.Sprintf(`{"name":"%d","priority":%d,"request":{"bodyPatterns":[{"matchesJsonPath":%s}]}}`, i, i+1, condition))
	}
	set := parse(t, "["+strings.Join(list, ",")+"]")
	for body, want := range map[string]string{
		`{"a": 1, "b": 1, "c": 1}`: "0", `{"a": 2, "b": 1, "c": 1}`: "1", `{"a": 3, "b": 1, "c": 1}`: "2",
		`{"a": 3, "b": 2, "c": 1}`: "3", `{"a": 4, "b": 2}`: "4", `{"a": 4, "b": 2, "c": 1}`: "", `{"b": 1}`: "2",
	} {
		if got := matchName(t, set, exchange{Method: "POST", Target: "/", Body: body}); got != want {
			t.Errorf("%s: got '%s', want '%s'", body, got, want)
		}
	}
}

func TestTargetInAbsoluteForm(t *testing.T) {
	set := parse(t, `[{"name":"a","request":{"url":"/a?b"}},{"name":"root","request":{"url":"/"}},{"name":"query","request":{"url":"/?q"}}]`)
	for target, want := range map[string]string{
		"http://shop.test/a?b": "a", "http://shop.test": "root", "http://shop.test?q": "query", "*": "",
	} {
		if got := matchName(t, set, exchange{Method: "GET", Target: target}); got != want {
			t.Errorf("%s: got '%s', want '%s'", target, got, want)
		}
	}
}

func TestThousandsOfMappingsAreFoundByIndex(t *testing.T) {
	set := parse(t, manyMappings(2000))
	for _, i := range []int{0, 1, 1000, 1999} {
		for _, target := range []string{"/exact/%d", "/path/%d?x=1", "/pattern/%d/z", "/v1/template/%d/x"} {
			target = fmt.Sprintf(target, i)
			r := newRequest(exchange{Method: "GET", Target: target})
			r.split()
			looked := 0
			for _, list := range set.candidates(r, nil) {
				looked += len(list)
			}
			m, err := set.Match(r)
			if err != nil || m == nil {
				t.Fatalf("%s: %v, %v", target, m, err)
			}
			if looked > 5 {
				t.Errorf("%s: %d mappings are looked at", target, looked)
			}
		}
	}
}

// TestPathTemplates holds which templates match a path: the index has to find as many
// as looking at each would.
func TestPathTemplates(t *testing.T) {
	templates := []string{"/", "/a", "/{x}", "/a/{x}", "/{x}/b", "/a/b", "/{x}/{y}", "/a/", "/{x}/", "/a/{x}/c", "a/{x}", "{x}"}
	var list []string
	for i, template := range templates {
		list = append(list, fmt.Sprintf(`{"name":"%s","priority":%d,"request":{"urlPathTemplate":"%s"}}`, template, i+1, template))
	}
	set := parse(t, "["+strings.Join(list, ",")+"]")
	for _, path := range []string{"/", "/a", "/b", "/a/b", "/a/", "/b/", "//", "/a/b/c", "/x/b/c", "/a//c", "/b/b", "/a/b/"} {
		r := newRequest(exchange{Method: "GET", Target: path})
		r.split()
		var found []string
		for _, ranks := range set.candidates(r, nil) {
			for _, rank := range ranks {
				found = append(found, set.mappings[rank].name)
			}
		}
		var want []string
		for _, m := range set.mappings {
			if m.url.matches(r) {
				want = append(want, m.name)
			}
		}
		slices.Sort(found)
		slices.Sort(want)
		if !slices.Equal(found, want) {
			t.Errorf("%s: found %q, want %q", path, found, want)
		}
	}
}

func manyMappings(n int) string {
	var list []string
	for i := range n {
		list = append(list,
			fmt.Sprintf(`{"request":{"method":"GET","url":"/exact/%d"},"response":{"body":"exact"}}`, i),
			fmt.Sprintf(`{"request":{"method":"GET","urlPath":"/path/%d"},"response":{"body":"path"}}`, i),
			fmt.Sprintf(`{"request":{"method":"GET","urlPathPattern":"/pattern/%d/[a-z]+"},"response":{"body":"pattern"}}`, i),
			fmt.Sprintf(`{"request":{"method":"GET","urlPathTemplate":"/{version}/template/%d/{id}"},"response":{"body":"template"}}`, i))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestMatchIsSafeForManyGoroutines(t *testing.T) {
	mappings, err := Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(mappings)
	var requests []exchange
	readLines(t, "testdata/requests.json", &requests)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, e := range requests {
				r := newRequest(e)
				if m, err := set.Match(r); err != nil {
					t.Error(err)
				} else if m != nil {
					_, _ = m.Respond(r)
				} else {
					set.Closest(r)
				}
			}
		})
	}
	wg.Wait()
}
