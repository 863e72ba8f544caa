// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// rulesOf returns rules, or fails the test.
func rulesOf(t testing.TB, o Options) *Rules {
	t.Helper()
	r, err := NewRules(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func body(text string) *Response {
	return &Response{Status: 200, Header: []byte("Content-Type: application/json\r\n"), Body: []byte(text)}
}

// found returns what differs, one a line: kind, field, old, new.
func found(r *Result) []string {
	lines := make([]string, 0, len(r.Differences))
	for _, d := range r.Differences {
		lines = append(lines, fmt.Sprintf("%s %s: %s → %s", d.Kind, d.Field, Short(d.Old), Short(d.New)))
	}
	return lines
}

func TestJSON(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"numbers by value", `{"a":1.0,"b":100,"c":-0,"d":1e-2}`, `{"a":1.00,"b":1e2,"c":0.0,"d":0.010}`, nil},
		{"numbers beyond floats", `[9007199254740993,1e400]`, `[9007199254740992,1e400]`, []string{"changed $[*]: 9007199254740993 → 9007199254740992"}},
		{"members in another order", `{"a":1,"b":{"x":[],"y":null}}`, ` { "b" : {"y":null,"x":[ ]}, "a":1 }`, nil},
		{"escapes", `{"\u0061":"\u00e9\/\ud83d\ude00"}`, `{"a":"é/😀"}`, nil},
		{"changed", `{"a":{"b":1,"odd name":"x"}}`, `{"a":{"b":2,"odd name":"y"}}`, []string{"changed $.a.b: 1 → 2", `changed $.a['odd name']: "x" → "y"`}},
		{"missing is not null", `{"a":null}`, `{}`, []string{"missing $.a: null → –"}},
		{"added null", `{}`, `{"a":null}`, []string{"added $.a: – → null"}},
		{"null became text", `{"a":null}`, `{"a":"x"}`, []string{`type $.a: null → "x"`}},
		{"number became text", `{"a":1}`, `{"a":"1"}`, []string{`type $.a: 1 → "1"`}},
		{"true became false", `{"a":true}`, `{"a":false}`, []string{"changed $.a: true → false"}},
		{"a container counts, not its children", `{"a":{"b":1,"c":{"d":2}},"z":1}`, `{"z":1}`, []string{`missing $.a: {"b":1,"c":{"d":2}} → –`}},
		{"inserted by id", `{"items":[{"id":1,"n":"a"},{"id":2,"n":"b"}]}`, `{"items":[{"id":9,"n":"z"},{"id":1,"n":"a"},{"id":2,"n":"b"}]}`, []string{`added $.items[*]: – → {"id":9,"n":"z"}`}},
		{"inserted without a key", `[3,1,4,1,5]`, `[3,1,7,4,1,5]`, []string{"added $[*]: – → 7"}},
		{"removed objects without a key", `[{"v":1},{"v":1},{"v":2}]`, `[{"v":1},{"v":2}]`, []string{`missing $[*]: {"v":1} → –`}},
		{"reordered by id", `[{"id":1},{"id":2}]`, `[{"id":2},{"id":1}]`, []string{`order $: [{"id":1},{"id":2}] → [{"id":2},{"id":1}]`}},
		{"reordered scalars", `{"a":[1,2,3]}`, `{"a":[3,1,2]}`, []string{"order $.a: [1,2,3] → [3,1,2]"}},
		{"reordered and changed", `[{"id":1,"v":1},{"id":2,"v":2}]`, `[{"id":2,"v":2},{"id":1,"v":5}]`, []string{`order $: [{"id":1,"v":1},{"id":2,"v":2}] → [{"id":2,"v":2},{"id":1,"v":5}]`, "changed $[*].v: 1 → 5"}},
		{"changed in place without a key", `[{"v":1,"w":[1]},{"v":1,"w":[2]},{"v":1,"w":[3]}]`, `[{"v":1,"w":[1]},{"v":1,"w":[7]},{"v":1,"w":[3]}]`, []string{"changed $[*].w[*]: 2 → 7"}},
		{"any other key", `[{"sku":"a","n":1},{"sku":"b","n":1}]`, `[{"sku":"b","n":1},{"sku":"a","n":2},{"sku":"c","n":1}]`, []string{`order $: [{"sku":"a","n":1},{"sku":"b","n":1}] → [{"sku":"b","n":1},{"sku":"a","n":2},{"sku":"c","n":1}]`, "changed $[*].n: 1 → 2", `added $[*]: – → {"sku":"c","n":1}`}},
		{"ids made anew align by place", `[{"id":"x1","n":1},{"id":"x2","n":2}]`, `[{"id":"y1","n":1},{"id":"y2","n":2}]`, []string{`changed $[*].id: "x1" → "y1"`}},
		{"json in a string", `{"p":"{\"a\":1,\"b\":2}"}`, `{"p":"{\"b\":2, \"a\":3}"}`, []string{"changed $.p.a: 1 → 3"}},
		{"json in a string, one level", `{"p":"{\"a\":\"[1]\"}"}`, `{"p":"{\"a\":\"[2]\"}"}`, []string{`changed $.p.a: "[1]" → "[2]"`}},
		{"no json in a string", `{"p":"{x"}`, `{"p":"{y"}`, []string{`changed $.p: "{x" → "{y"`}},
		{"keys that are ids", `{"by":{"1001":{"n":1},"1002":{"n":1}}}`, `{"by":{"1001":{"n":2},"1002":{"n":3}}}`, []string{"changed $.by[*].n: 1 → 2"}},
		{"top is a scalar", `1`, `2`, []string{"changed $: 1 → 2"}},
		{"a key twice", `{"a":1,"a":2}`, `{"a":1,"a":3}`, []string{"changed $.a: 2 → 3"}},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\xfe\"}", []string{`changed $.a: "\xff" → "\xfe"`}},
		{"html instead", `{"a":1}`, `<html></html>`, []string{"type body: JSON, 7 bytes, hash 2fb2a4a8b2b8ce5f → text, 13 bytes, hash x"}},
		{"nothing instead", `{"a":1}`, ``, []string{"missing body: 7 bytes, hash x → –"}},
	} {
		got := found(NewComparer(rulesOf(t, Options{})).Compare(body(tc.old), body(tc.new)))
		if !slices.EqualFunc(got, tc.want, func(a, b string) bool { return withoutHash(a) == withoutHash(b) }) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// withoutHash drops what a hash is.
func withoutHash(s string) string {
	words := strings.Fields(s)
	for i := range words {
		if i > 0 && words[i-1] == "hash" {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// TestValuesThatWereLeftOut compares with what a recording has redacted.
func TestValuesThatWereLeftOut(t *testing.T) {
	old := body(`{"card":{"number":"REDACTED"},"pin":"REDACTED","price":1}`)
	old.Header = append(old.Header, "X-Key: REDACTED\r\n"...)
	new := body(`{"card":{"number":"4111"},"pin":1234,"price":2}`)
	new.Header = append(new.Header, "X-Key: secret\r\n"...)
	result := NewComparer(rulesOf(t, Options{})).Compare(old, new)
	if got := found(result); !slices.Equal(got, []string{"changed $.price: 1 → 2"}) || result.Ignored != 3 {
		t.Errorf("got %q, %d ignored", got, result.Ignored)
	}
}

func TestIgnored(t *testing.T) {
	rules := rulesOf(t, Options{
		IgnoreHeaders: []string{"X-Cache"}, IgnoreJSON: []string{"$.items[*].at", "$.meta", "$.by[*].v"},
		Unordered: []string{"$.tags", "$.items"}, Redact: []string{"X-Token"},
	})
	old := &Response{Status: 200, Header: []byte("Host: a\r\nDate: 1\r\nX-Cache: hit\r\nETag: a\r\nSet-Cookie: sid=1; Path=/\r\nX-Token: secret\r\n"), Body: []byte(
		`{"items":[{"at":1,"n":"a"},{"at":2,"n":"b"},{"at":3,"n":"b"}],"meta":{"x":1},"by":{"k":{"v":1}},"tags":[1,2,2]}`)}
	new := &Response{Status: 200, Header: []byte("host: a\ndate: 2\nx-cache: miss\netag: b\nset-cookie: sid=2; Path=/\nx-token: hidden\n"), Body: []byte(
		`{"items":[{"at":4,"n":"b"},{"at":5,"n":"a"},{"at":6,"n":"b"}],"meta":{"x":2,"y":3},"by":{"k":{"v":2}},"tags":[2,1,2]}`)}
	result := NewComparer(rules).Compare(old, new)
	if got := found(result); !slices.Equal(got, []string{"changed header X-Token: (redacted) → (redacted)"}) {
		t.Errorf("got %q", got)
	}
	if result.Ignored != 4+3+2 { // headers; items' at; meta and by
		t.Errorf("%d ignored", result.Ignored)
	}
	if _, err := NewRules(Options{IgnoreJSON: []string{"$.a[?(@.b)]"}}); err == nil || !strings.Contains(err.Error(), "character 4") {
		t.Errorf("got %v", err)
	}
	for _, o := range []Options{{IgnoreHeaders: []string{"a b"}}, {Redact: []string{""}}, {RequireEqual: "x:"}, {Unordered: []string{"$..a"}}} {
		if _, err := NewRules(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"missing", "A: 1\r\nB: 2\r\n", "A: 1\r\n", []string{"missing header B: 2 → –"}},
		{"added", "", "x-new-thing: 1\r\n", []string{"added header X-New-Thing: – → 1"}},
		{"changed among several", "A: 1\r\nA: 2\r\n", "A: 1\r\nA: 3\r\n", []string{"changed header A: 1, 2 → 1, 3"}},
		{"cookies by name", "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n", "Set-Cookie: a=9\r\n", []string{"changed header Set-Cookie: a, b → a"}},
		{"no etag any more", "ETag: x\r\n", "", []string{"missing header Etag: x → –"}},
		{"length, same body", "Content-Length: 5\r\n", "Content-Length: 6\r\n", []string{"changed header Content-Length: 5 → 6"}},
		{"of the moment", "Date: 1\r\nServer: a\r\nAge: 1\r\nVia: x\r\nAlt-Svc: y\r\nTraceparent: z\r\n", "Date: 2\r\n", nil},
		{"not lines", "junk\r\n: x\r\n\r\n", "A: 1\r\n", []string{"added header A: – → 1"}},
	} {
		r := NewComparer(rulesOf(t, Options{})).Compare(&Response{Status: 200, Header: []byte(tc.old)}, &Response{Status: 200, Header: []byte(tc.new)})
		if got := found(r); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAppendHeader(t *testing.T) {
	old := &Response{Status: 200, Header: http1.AppendHeader(nil, map[string][]string{"A": {"1", "2"}, "B": {""}})}
	new := &Response{Status: 200, Header: []byte("B:\r\nA: 1\r\nA: 2\r\n")}
	if r := NewComparer(rulesOf(t, Options{})).Compare(old, new); len(r.Differences) != 0 {
		t.Errorf("got %q", found(r))
	}
}

func TestStatusErrorTrailer(t *testing.T) {
	c := NewComparer(rulesOf(t, Options{RequireEqual: "X-Version"}))
	r := c.Compare(&Response{Status: 200, Body: []byte("a"), Header: []byte("Content-Length: 1\r\n")}, &Response{Status: 503, Body: []byte("b"), Header: []byte("Content-Length: 2\r\n")})
	if got := found(r); !slices.Equal(got, []string{"changed status: 200 → 503"}) || r.Partial != ClassOf {
		t.Errorf("got %q, %s", got, r.Partial)
	}
	r = c.Compare(&Response{Status: 200, Body: []byte("a")}, &Response{Status: 201, Body: []byte("b")})
	if got := found(r); !slices.Equal(got, []string{"changed status: 200 → 201", "changed line 1: a → b"}) {
		t.Errorf("got %q", got)
	}
	r = c.Compare(&Response{Status: 200}, &Response{Error: "timeout"})
	if got := found(r); !slices.Equal(got, []string{"added error: – → timeout"}) || r.Partial != Broken {
		t.Errorf("got %q, %s", got, r.Partial)
	}
	r = c.Compare(&Response{Status: 200, Trailer: []byte("X-Sum: 1\r\n")}, &Response{Status: 200, Trailer: []byte("X-Sum: 2\r\n")})
	if got := found(r); !slices.Equal(got, []string{"changed trailer X-Sum: 1 → 2"}) {
		t.Errorf("got %q", got)
	}
	r = c.Compare(&Response{Status: 200, Header: []byte("X-Version: 1\r\n")}, &Response{Status: 500, Header: []byte("X-Version: 2\r\n")})
	if len(r.Differences) != 0 || !r.Unequal {
		t.Errorf("got %+v", r)
	}
}

func TestTextAndXML(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"a line", "a\nb\nc\n", "a\nx\nc\n", []string{"changed line 2: b → x"}},
		{"an inserted line", "a\nb\nc\n", "a\nx\nb\nc\n", []string{"added line 2: – → x"}},
		{"a lost line", "a\nb\nc", "a\nc", []string{"missing line 2: b → –"}},
		{"line ends", "a\r\nb\r\n", "a\nb", nil},
		{"binary", "a\x00b", "a\x00c", []string{"changed body: 3 bytes, hash x → 3 bytes, hash x"}},
		{"xml", `<?xml version="1.0"?><o id="1"><i>a</i><i>b</i></o>`, `<?xml version="1.0"?> <o id="2"> <i>a</i><i>c</i><i>b</i></o>`, []string{`changed $.o['@id']: "1" → "2"`, `added $.o.i: – → "c"`}},
		{"xml, one or several", `<?xml version="1.0"?><o><i>a</i></o>`, `<?xml version="1.0"?><o><i>a</i><i>b</i></o>`, []string{`added $.o.i: – → "b"`}},
		{"xml of the same", `<?xml version="1.0"?><o a="1" b="2"/>`, `<?xml version="1.0"?><o b='2' a='1'></o>`, nil},
		{"no xml after all", `<?xml version="1.0"?><o>`, `<?xml version="1.0"?><p>`, []string{`changed line 1: <?xml version="1.0"?><o> → <?xml version="1.0"?><p>`}},
	} {
		got := found(NewComparer(rulesOf(t, Options{})).Compare(&Response{Status: 200, Body: []byte(tc.old)}, &Response{Status: 200, Body: []byte(tc.new)}))
		if !slices.EqualFunc(got, tc.want, func(a, b string) bool { return withoutHash(a) == withoutHash(b) }) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestGenerated(t *testing.T) {
	recorded, now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	jwt := func(payload string) string { return "eyJhbGciOiJIUzI1NiJ9." + payload + ".c2ln" }
	for _, tc := range []struct {
		old, new string
		want     Generated
	}{
		{"0b0e3b0e-5f9c-4e0c-8f2a-1f2e3d4c5b6a", "1b0e3b0e-5f9c-4e0c-8f2a-1f2e3d4c5b6b", Identifier},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ", Identifier},
		{"00112233445566778899aabb", "10112233445566778899aabb", Identifier},
		{"00112233445566778899aabb", "10112233445566778899", NotGenerated},
		{jwt("eyJzdWIiOiJhIiwiaWF0IjoxfQ"), jwt("eyJzdWIiOiJhIiwiaWF0IjoyfQ"), Identifier},
		{jwt("eyJzdWIiOiJhIiwiaWF0IjoxfQ"), jwt("eyJzdWIiOiJiIiwiaWF0IjoyfQ"), NotGenerated},
		{"2026-01-02T03:04:05Z", "2026-02-03T04:05:06.5Z", Moment},
		{"2026-01-02T04:04:05Z", "2026-02-03T05:05:36Z", Moment},
		{"2026-01-02T04:04:05Z", "2026-02-03T09:05:36Z", NotGenerated},
		{"2026-01-02T03:04:05Z", "2026-01-02T03:05:06Z", NotGenerated},
		{"1767323045", "1770091506", Moment},
		{"1767323045123", "1770091506999", Moment},
		{"1000000000", "2000000000", NotGenerated},
		{"abc", "abd", NotGenerated},
	} {
		if got := generated([]byte(`"`+tc.old+`"`), []byte(tc.new), recorded.UnixMilli(), now.UnixMilli()); got != tc.want {
			t.Errorf("%s → %s: got %d, want %d", tc.old, tc.new, got, tc.want)
		}
	}
}

// TestLogged has an old response of which an access log is all that is known.
func TestLogged(t *testing.T) {
	c := NewComparer(rulesOf(t, Options{}))
	if r := c.Compare(&Response{Status: 200, BodySize: 7}, body(`{"a":1}`)); len(r.Differences) > 0 || r.Partial != Truncated {
		t.Errorf("got %q, %s", found(r), r.Partial)
	}
	if got := found(c.Compare(&Response{Status: 500, BodySize: 7}, body(`{"a":1}`))); !slices.Equal(got, []string{"changed status: 500 → 200"}) {
		t.Errorf("got %q", got)
	}
}
