// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// pack returns content as an encoding has it.
func pack(t testing.TB, encoding string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch encoding {
	case "gzip":
		w := gzip.NewWriter(&b)
		_, err = w.Write(content)
		w.Close()
	case "br":
		w := brotli.NewWriter(&b)
		_, err = w.Write(content)
		w.Close()
	case "zstd":
		w, _ := zstd.NewWriter(&b)
		_, err = w.Write(content)
		w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packed(encoding string, body []byte) *Response {
	return &Response{Status: 200, Header: []byte("Content-Encoding: " + encoding + "\r\n"), Body: body}
}

func TestPackedBodies(t *testing.T) {
	c := NewComparer(rulesOf(t, Options{IgnoreHeaders: []string{"Content-Encoding"}}))
	old, new := []byte(`{"a":1,"b":[1,2]}`), []byte(`{"a":1.0,"b":[1,3]}`)
	want := []string{"changed $.b[*]: 2 → 3"}
	for _, encoding := range []string{"gzip", "br", "zstd"} {
		for range 2 { // the second time, readers are used again
			if got := found(c.Compare(packed(encoding, pack(t, encoding, old)), packed(encoding, pack(t, encoding, new)))); !slices.Equal(got, want) {
				t.Errorf("%s: got %q", encoding, got)
			}
			if got := found(c.Compare(packed(encoding, pack(t, encoding, old)), body(string(new)))); !slices.Equal(got, []string{"missing header Content-Type: application/json → –"}) && !slices.Equal(got, append(want, "added header Content-Type: – → application/json")) {
				t.Errorf("%s beside plain: got %q", encoding, got)
			}
		}
	}
	twice := packed("gzip, br", pack(t, "br", pack(t, "gzip", old)))
	if got := found(c.Compare(twice, packed("gzip", pack(t, "gzip", new)))); !slices.Equal(got, want) {
		t.Errorf("packed twice: got %q", got)
	}
	if r := c.Compare(packed("gzip", []byte("not gzip")), packed("gzip", pack(t, "gzip", new))); r.Partial != BadEncoding || len(r.Differences) != 1 || r.Differences[0].Field != "body" {
		t.Errorf("got %q, %s", found(r), r.Partial)
	}
	if r := c.Compare(packed("zz", []byte("a")), packed("zz", []byte("b"))); !slices.Equal(found(r), []string{"changed line 1: a → b"}) {
		t.Errorf("got %q", found(r))
	}
}

func TestCutBodies(t *testing.T) {
	c := NewComparer(rulesOf(t, Options{}))
	r := c.Compare(&Response{Status: 200, Body: []byte(`{"a":`), BodySize: 100}, &Response{Status: 200, Body: []byte(`{"a":1`), BodySize: 100})
	if len(r.Differences) != 0 || r.Partial != Truncated {
		t.Errorf("got %q, %s", found(r), r.Partial)
	}
	r = c.Compare(&Response{Status: 200, Body: []byte(`{"a":`), BodySize: 100}, &Response{Status: 200, Body: []byte(`{"b":1}`)})
	if len(r.Differences) != 1 || r.Differences[0].Field != "body" || r.Partial != Truncated {
		t.Errorf("got %q, %s", found(r), r.Partial)
	}
}

// TestBadInput holds what a hostile or broken service sends to a budget of
// time and memory, and to what it is counted as.
func TestBadInput(t *testing.T) {
	zeros := make([]byte, 8<<20)
	packedZeros := make(map[string][]byte)
	for _, encoding := range []string{"gzip", "br", "zstd"} {
		packedZeros[encoding] = pack(t, encoding, zeros)
	}
	million := func(format string) []byte {
		b := []byte("{")
		for i := range 1_000_000 {
			b = fmt.Appendf(b, format, i, i)
		}
		return append(b[:len(b)-1], '}')
	}
	list := func(element func(int) string, n int) []byte {
		b := []byte("[")
		for i := range n {
			b = append(append(b, element(i)...), ',')
		}
		return append(b[:len(b)-1], ']')
	}
	for _, tc := range []struct {
		name     string
		old, new *Response
		field    string
		partial  string
	}{
		{"gzip bomb", packed("gzip", packedZeros["gzip"]), packed("gzip", pack(t, "gzip", []byte("{}"))), "body", TooLarge},
		{"brotli bomb", packed("br", packedZeros["br"]), packed("br", pack(t, "br", []byte("{}"))), "body", TooLarge},
		{"zstd bomb", packed("zstd", packedZeros["zstd"]), packed("zstd", pack(t, "zstd", []byte("{}"))), "body", TooLarge},
		{"bomb in a bomb", packed("gzip, gzip", pack(t, "gzip", packedZeros["gzip"])), packed("gzip", pack(t, "gzip", []byte("{}"))), "body", TooLarge},
		{"10,000 levels", body(strings.Repeat("[", 10_000) + "1" + strings.Repeat("]", 10_000)), body(strings.Repeat("[", 10_000) + "2" + strings.Repeat("]", 10_000)), "body", TooDeep},
		{"a million keys", body(string(million(`"k%d":%d,`))), body(string(million(`"j%d":%d,`))), "body", TooMany},
		{"a million lines", &Response{Status: 200, Body: bytes.Repeat([]byte("a\n"), 1_000_000)}, &Response{Status: 200, Body: bytes.Repeat([]byte("b\n"), 1_000_000)}, "body", ""},
		{"10,000 new keys", body(`{"x":` + string(list(func(i int) string { return "1" }, 10)) + "}"), body("{" + strings.TrimSuffix(strings.Repeat(`"k":1,`, 10_000), ",") + "}"), "$.x", ""},
		{"100,000 unlike elements", body(string(list(func(i int) string { return fmt.Sprint(i) }, 100_000))), body(string(list(func(i int) string { return fmt.Sprint(-i - 1) }, 100_000))), "$[*]", ""},
		{"100,000 reversed", body(string(list(func(i int) string { return fmt.Sprint(i) }, 100_000))), body(string(list(func(i int) string { return fmt.Sprint(100_000 - i) }, 100_000))), "$", ""},
		{"60,000 reversed objects", body(string(list(func(i int) string { return fmt.Sprintf(`{"id":%d}`, i) }, 60_000))), body(string(list(func(i int) string { return fmt.Sprintf(`{"id":%d}`, 60_000-i) }, 60_000))), "$", ""},
		{"30,000 header lines", &Response{Status: 200, Header: bytes.Repeat([]byte("X-A: 1\r\n"), 30_000)}, &Response{Status: 200, Header: bytes.Repeat([]byte("X-B: 1\r\n"), 30_000)}, "header X-A", ""},
		{"a number of a megabyte", body("[" + strings.Repeat("1", 1<<20) + "]"), body("[" + strings.Repeat("1", 1<<20-1) + "2]"), "$[*]", ""},
		{"an exponent without end", body("[1e" + strings.Repeat("9", 1<<20) + "]"), body("[2e" + strings.Repeat("9", 1<<20) + "]"), "$[*]", ""},
		{"deep XML", body("<?xml version='1.0'?>" + strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000)), body("<?xml version='1.0'?><a/>"), "body", TooDeep},
		{"XML entities", body(`<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><l>&b;</l>`), body(`<?xml version="1.0"?><l>1</l>`), "body", ""},
		{"deep within a string", body(`{"a":"` + strings.Repeat("[", 10_000) + `"}`), body(`{"a":"[1]"}`), "$.a", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := NewComparer(rulesOf(t, Options{MaxBody: 4 << 20}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			r := c.Compare(tc.old, tc.new)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if took > time.Minute { // under the race detector, on a busy machine
				t.Errorf("it took %s", took)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
				t.Errorf("%d MiB were allocated", used>>20)
			}
			if len(r.Differences) == 0 || r.Differences[0].Field != tc.field || r.Partial != tc.partial {
				t.Errorf("got %.200q, %q", found(r), r.Partial)
			}
			c.Compare(&Response{Status: 200}, &Response{Status: 200})
			if kept := cap(c.oldBody) + cap(c.newBody) + cap(c.arena) + 32*(cap(c.oldDoc.nodes)+cap(c.newDoc.nodes)) + 4*cap(c.list) + 16*cap(c.index); kept > 6<<20 {
				t.Errorf("%d bytes of buffers are kept", kept)
			}
		})
	}
}

func TestFieldsAreBounded(t *testing.T) {
	var a, b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&a, `,"name%dx":1`, i)
		fmt.Fprintf(&b, `,"name%dx":2`, i)
	}
	c := NewComparer(rulesOf(t, Options{}))
	r := c.Compare(body("{"+a.String()[1:]+"}"), body("{"+b.String()[1:]+"}"))
	if len(r.Differences) != maxDifferences || r.Partial != TooMany {
		t.Errorf("%d differences, %q", len(r.Differences), r.Partial)
	}
	for i := range 3 * maxKnown {
		c.Compare(body("{}"), body(fmt.Sprintf(`{"name%dx":1}`, i)))
	}
	if len(c.known) > maxKnown {
		t.Errorf("%d names are kept", len(c.known))
	}
}

func FuzzCompare(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":[1,{"id":1}]}`, `{"a":[{"id":1},1]}`},
		{`[[],[[]],{}]`, `[{},[],[[]]]`},
		{`{"p":"{\"a\":1}"}`, `{"p":"{\"a\":2}"}`},
		{"a\nb", "b\na"},
		{`<?xml version="1.0"?><a b="1">x<c/></a>`, `<?xml version="1.0"?><a><c/><c/></a>`},
		{`"\ud800"`, `"\ud800\udc00"`},
		{`-0e5`, `[`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte("Content-Type: application/json\r\nA: b"))
	}
	rules, err := NewRules(Options{IgnoreJSON: []string{"$.a[*].b"}, Unordered: []string{"$.c", "$.p"}, MaxBody: 1 << 20})
	if err != nil {
		f.Fatal(err)
	}
	c := NewComparer(rules)
	f.Fuzz(func(t *testing.T, old, new, header []byte) {
		a, b := &Response{Status: 200, Header: header, Body: old}, &Response{Status: 200, Header: header, Body: new}
		start := time.Now()
		forth := len(c.Compare(a, b).Differences)
		back := len(c.Compare(b, a).Differences)
		if (forth == 0) != (back == 0) {
			t.Errorf("%d differences there, %d back", forth, back)
		}
		if same := c.Compare(a, a); len(same.Differences) > 0 {
			t.Errorf("a response differs from itself: %q", found(same))
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// twoKilobytes returns JSON of a good 2 kB with one noisy member.
func twoKilobytes(noise int) string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range 14 {
		fmt.Fprintf(&b, `%s{"id":%d,"sku":"sku-%d","name":"a thing to buy, number %d","price":%d.50,"tags":["new","sale"],"stock":{"berlin":%d,"paris":7}}`, strings.Repeat(",", min(i, 1)), 1000+i, i, i, i, i)
	}
	fmt.Fprintf(&b, `],"total":14,"took_ms":%d,"currency":"JPY"}`, noise)
	return b.String()
}

func BenchmarkCompare(b *testing.B) {
	header := "Content-Type: application/json\r\nDate: Tue, 01 Dec 2026 01:00:0%d GMT\r\nContent-Length: 2000\r\nCache-Control: no-store\r\nX-Frame-Options: DENY\r\n"
	old := &Response{Status: 200, Header: fmt.Appendf(nil, header, 1), Body: []byte(twoKilobytes(17))}
	new := &Response{Status: 200, Header: fmt.Appendf(nil, header, 2), Body: []byte(twoKilobytes(23))}
	c := NewComparer(rulesOf(b, Options{}))
	if got := found(c.Compare(old, new)); !slices.Equal(got, []string{"changed $.took_ms: 17 → 23"}) {
		b.Fatal(got)
	}
	b.SetBytes(int64(len(old.Body)))
	b.ReportAllocs()
	for b.Loop() {
		c.Compare(old, new)
	}
}

// TestNamesAreBounded has names and paths that are as long as bodies are, each of
// which is another. Fields are counted for long.
func TestNamesAreBounded(t *testing.T) {
	c := NewComparer(rulesOf(t, Options{}))
	long := func(i int) string { return fmt.Sprint(strings.Repeat("n", 100_000), "y", i) }
	var deep strings.Builder
	for range 400 {
		deep.WriteString(`{"` + strings.Repeat("d", maxName) + `":`)
	}
	for i := range 100 {
		for _, tc := range []struct {
			new  *Response
			want string
		}{
			{body(fmt.Sprintf(`{%q:{"a":2}}`, long(i))), "$[*]"},
			{body(deep.String() + fmt.Sprintf(`{"x%d":2}`, i) + strings.Repeat("}", 400)), "$." + strings.Repeat("d", maxName)},
			{&Response{Status: 200, Header: []byte("content-type: application/json\r\n" + long(i) + ": 1\r\n"), Body: []byte("{}")}, "header N" + strings.Repeat("n", maxName-1)},
		} {
			r := c.Compare(body("{}"), tc.new)
			if len(r.Differences) != 1 || r.Differences[0].Field != tc.want {
				t.Fatalf("got %d differences, %.300q", len(r.Differences), found(r))
			}
		}
	}
	both := func(value int) *Response {
		return body(deep.String() + fmt.Sprintf(`{"x":%d}`, value) + strings.Repeat("}", 400))
	}
	if r := c.Compare(both(1), both(2)); len(r.Differences) != 1 || len(r.Differences[0].Field) > maxPlace+6*maxName {
		t.Errorf("got %.2000q", found(r))
	}
	if len(c.known) != 4 {
		t.Errorf("%d names are kept", len(c.known))
	}
}
