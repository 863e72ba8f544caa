// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/latency"
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
		for _, target := range []string{"/exact/%d", "/path/%d?x=1", "/pattern/%d/z"} {
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

func manyMappings(n int) string {
	var list []string
	for i := range n {
		list = append(list,
			fmt.Sprintf(`{"request":{"method":"GET","url":"/exact/%d"},"response":{"body":"exact"}}`, i),
			fmt.Sprintf(`{"request":{"method":"GET","urlPath":"/path/%d"},"response":{"body":"path"}}`, i),
			fmt.Sprintf(`{"request":{"method":"GET","urlPathPattern":"/pattern/%d/[a-z]+"},"response":{"body":"pattern"}}`, i))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestBodyIsReadOnceAndOnlyIfLookedAt(t *testing.T) {
	set := parse(t, `[
		{"request":{"url":"/plain"}},
		{"request":{"url":"/body","bodyPatterns":[{"equalTo":"x"}]}},
		{"request":{"url":"/body","bodyPatterns":[{"matchesJsonPath":"$.a"}]}},
		{"request":{"url":"/body","bodyPatterns":[{"equalToJson":{"a":1}}]},"response":{"body":"{{request.body}}","transformers":["response-template"]}}]`)
	for target, want := range map[string]int{"/plain": 0, "/body": 1} {
		read := 0
		r := &Request{Method: "POST", Target: target, ReadBody: func() ([]byte, error) { read++; return []byte(`{"a":1}`), nil }}
		m, err := set.Match(r)
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		m.Answer(r)
		if read != want {
			t.Errorf("%s: the body was read %d times", target, read)
		}
	}
}

func TestUnreadableBodyIsAnError(t *testing.T) {
	set := parse(t, `[{"request":{"bodyPatterns":[{"doesNotContain":"x"}]}},{"priority":1,"request":{"url":"/plain"}}]`)
	broken := errors.New("connection reset")
	r := &Request{Method: "POST", Target: "/", ReadBody: func() ([]byte, error) { return []byte("cut"), broken }}
	if m, err := set.Match(r); m != nil || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", m, err)
	}
	r = &Request{Method: "POST", Target: "/plain", ReadBody: r.ReadBody}
	if m, err := set.Match(r); m == nil || err != nil {
		t.Errorf("a mapping that does not look at the body: got %v, %v", m, err)
	}
}

// TestDeepJSONIsNoJSON holds that a body cannot exhaust the stack.
func TestDeepJSONIsNoJSON(t *testing.T) {
	set := parse(t, `[{"request":{"bodyPatterns":[{"matchesJsonPath":"$..a"}]}}]`)
	for _, tc := range []struct {
		depth int
		want  bool
	}{{900, true}, {1_000_000, false}} {
		body := strings.Repeat("[", tc.depth) + `{"a":"]\"["}` + strings.Repeat("]", tc.depth)
		m, err := set.Match(newRequest(exchange{Method: "POST", Target: "/", Body: body}))
		if err != nil || (m != nil) != tc.want {
			t.Errorf("depth %d: got %v, %v", tc.depth, m, err)
		}
	}
}

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

func TestTimingAndFaults(t *testing.T) {
	set := parse(t, `[
		{"request":{"url":"/fixed"},"response":{"fixedDelayMilliseconds":500}},
		{"request":{"url":"/both"},"response":{"fixedDelayMilliseconds":100,"delayDistribution":{"type":"uniform","lower":10,"upper":20}}},
		{"request":{"url":"/dribble"},"response":{"chunkedDribbleDelay":{"numberOfChunks":5,"totalDuration":1000}}},
		{"request":{"url":"/fault"},"response":{"fault":"EMPTY_RESPONSE"}}]`)
	get := func(target string) Answer {
		r := newRequest(exchange{Method: "GET", Target: target})
		m, err := set.Match(r)
		if err != nil || m == nil {
			t.Fatal(target, m, err)
		}
		return m.Answer(r)
	}
	fixed, both := get("/fixed"), get("/both")
	if got := fixed.Wait(latency.Random()); got != 500*time.Millisecond {
		t.Errorf("fixed: %s", got)
	}
	if got := both.Wait(latency.Random()); got < 110*time.Millisecond || got > 120*time.Millisecond {
		t.Errorf("both: %s", got)
	}
	if got := get("/dribble").Dribble; got != (Dribble{5, time.Second}) {
		t.Errorf("dribble: %v", got)
	}
	if got := get("/fault").Fault; got != EmptyResponse {
		t.Errorf("fault: %v", got)
	}
}

// TestTemplatedHeaderStaysOneLine holds that a client cannot add lines to the
// header of its answer.
func TestTemplatedHeaderStaysOneLine(t *testing.T) {
	set := parse(t, `{"response":{"headers":{"X-Echo":"{{request.query.q}}"},"transformers":["response-template"]}}`)
	r := newRequest(exchange{Method: "GET", Target: "/?q=a%0D%0ASet-Cookie:%20b"})
	m, err := set.Match(r)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	if got := m.Answer(r).Header; len(got) != 1 || got[0].Value != "a  Set-Cookie: b" {
		t.Errorf("got %q", got)
	}
}

func TestFramingIsLeftToTheServer(t *testing.T) {
	set := parse(t, `{"response":{"headers":{"content-length":"5","Transfer-Encoding":"chunked","X-A":"b"}}}`)
	r := newRequest(exchange{Method: "GET", Target: "/"})
	m, err := set.Match(r)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	if got := m.Answer(r).Header; len(got) != 1 || got[0] != (Field{"X-A", "b"}) {
		t.Errorf("got %q", got)
	}
}

// TestLayouts holds where mappings and body files may lie.
func TestLayouts(t *testing.T) {
	root := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stub := `{"name":"%s","request":{"url":"/%s"},"response":{"bodyFileName":"body.json"}}`
	write("wm/mappings/deep/one.json", fmt.Sprintf(stub, "one", "one"))
	write("wm/mappings/two.JSON", fmt.Sprintf(stub, "two", "two"))
	write("wm/mappings/readme.txt", "no mapping")
	write("wm/__files/body.json", `"wm"`)
	write("flat/three.json", fmt.Sprintf(stub, "three", "three"))
	write("flat/__files/body.json", `"flat"`)
	write("empty/none.txt", "")
	for _, tc := range []struct {
		paths []string
		want  map[string]string
	}{
		{[]string{"wm"}, map[string]string{"/one": `"wm"`, "/two": `"wm"`, "/three": ""}},
		{[]string{"wm/mappings"}, map[string]string{"/one": `"wm"`}},
		{[]string{"wm/mappings/two.JSON"}, map[string]string{"/one": "", "/two": `"wm"`}},
		{[]string{"flat", "wm"}, map[string]string{"/one": `"wm"`, "/three": `"flat"`}},
		{[]string{"flat/three.json"}, map[string]string{"/three": `"flat"`}},
	} {
		var paths []string
		for _, path := range tc.paths {
			paths = append(paths, filepath.Join(root, path))
		}
		mappings, err := Load(paths...)
		if err != nil {
			t.Errorf("%v: %v", tc.paths, err)
			continue
		}
		set := NewSet(mappings)
		for target, want := range tc.want {
			if got := answer(t, set, exchange{Method: "GET", Target: target}); got.Body != want {
				t.Errorf("%v: %s gave %q, want %q", tc.paths, target, got.Body, want)
			}
		}
	}
	for path, want := range map[string]string{"empty": "no .json file", "nowhere": "no such file"} {
		if _, err := Load(filepath.Join(root, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
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
					m.Answer(r)
				} else {
					set.Closest(r)
				}
			}
		})
	}
	wg.Wait()
}
