// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func placesOf(t testing.TB, constant []string, hashed ...string) places {
	t.Helper()
	r, err := newRedaction(&Options{RedactJSON: constant, RedactJSONHash: hashed, RedactKey: "a key for tests of it"})
	if err != nil {
		t.Fatal(err)
	}
	return r.places
}

func TestRedactJSON(t *testing.T) {
	paths := placesOf(t, []string{"$.a", "$.list[*].id", "$['odd name']", "$[*].deep.x"})
	for body, want := range map[string]string{
		`{"b":1}`:                             `{"b":1}`,
		` {"a" : 1 , "b": 2} `:                ` {"a" : "REDACTED" , "b": 2} `,
		`{"a":{"b":["]}",{}]},"a":null}`:      `{"a":"REDACTED","a":"REDACTED"}`,
		`{"\u0061":"x","odd name":"\"}"}`:     `{"\u0061":"REDACTED","odd name":"REDACTED"}`,
		`{"list":[{"id":1},{"no":2},3,"id"]}`: `{"list":[{"id":"REDACTED"},{"no":2},3,"id"]}`,
		`[{"deep":{"x":1,"y":2}},{"a":1}]`:    `[{"deep":{"x":"REDACTED","y":2}},{"a":1}]`,
		"{\"a\":1}\n{\"a\":2}\n":              "{\"a\":\"REDACTED\"}\n{\"a\":\"REDACTED\"}\n",
		`{"a":"cut of`:                        `{"a":"REDACTED"`,
		`{"b":"cut of`:                        `{"b":"cut of`,
		`{"a`:                                 `{"a`,
		`{"a":`:                               `{"a":`,
		`{"a":{"b":[1,`:                       `{"a":"REDACTED"`,
		`"text"`:                              `"text"`,
		``:                                    ``,
	} {
		got, whole := redactJSON([]byte(body), paths)
		if string(got) != want || !whole {
			t.Errorf("%s: got %s, whole %v, want %s", body, got, whole, want)
		}
	}
	for body, want := range map[string]string{
		`{"b":1} <a>secret`:               `{"b":1} <a>secret`,
		`{"a":1 "b":"secret"}`:            `{"a":"REDACTED" `,
		`{b:"secret"}`:                    `{`,
		`{"b":]"secret"}`:                 `{"b":`,
		`{"a":}"secret"`:                  `{"a":`,
		strings.Repeat("[", 1001) + `"a"`: strings.Repeat("[", 1000),
		`{"b":"\uZZZZ`:                    `{"b":"\uZZZZ`,
	} {
		got, _ := redactJSON([]byte(body), paths)
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
	if got, whole := redactJSON([]byte(`{"a":1}`), placesOf(t, []string{"$"})); string(got) != `"REDACTED"` || !whole {
		t.Errorf("got %s for the whole document", got)
	}
}

// TestHashedJSONKeepsItsTypes holds that a number stays one, with its exponent, and
// true and false stay each other's, whatever the key.
func TestHashedJSONKeepsItsTypes(t *testing.T) {
	for _, key := range []string{"a first key for tests", "another key for tests", "a third key for tests"} {
		r, err := newRedaction(&Options{RedactJSONHash: []string{"$"}, RedactKey: key})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := redactJSON([]byte(`[1.5e3,-20E-7,true,false,true,null,12,0.5,"1e3"]`), r.places)
		var values []any
		if err := json.Unmarshal(got, &values); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		for i, want := range []string{"float64", "float64", "bool", "bool", "bool", "<nil>", "float64", "float64", "string"} {
			if kind := fmt.Sprintf("%T", values[i]); kind != want {
				t.Errorf("%s: value %d is a %s, want %s", got, i, kind, want)
			}
		}
		if values[2] == values[3] || values[2] != values[4] || !bytes.Contains(got, []byte("e3,")) || !bytes.Contains(got, []byte("E-7,")) {
			t.Errorf("got %s", got)
		}
	}
}

func TestPackedBodies(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactJSON, o.MaxBody = []string{"$.a"}, 1000
	r := New(o, newWitness())
	defer r.Close()
	gzipped := func(text string) string {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return packed.String()
	}
	const secret, without = `{"a":"b","c":1}`, `{"a":"REDACTED","c":1}`
	plain := gzipped(`{"c":1}`)
	large := gzipped(`{"a":"b","c":"` + strings.Repeat("x", 2000) + `"}`)
	for name, tc := range map[string]struct {
		kind, coding, body, want string
		truncated                bool
	}{
		"not packed":        {"application/problem+json", "identity", secret, without, false},
		"packed":            {"application/json", "gzip", gzipped(secret), without, false},
		"packed twice":      {"application/json", "gzip, gzip", gzipped(gzipped(secret)), without, false},
		"without a type":    {"", "gzip", gzipped(secret), without, false},
		"nothing in it":     {"application/json", "gzip", plain, plain, false},
		"no JSON":           {"image/png", "gzip", gzipped("PNG"), gzipped("PNG"), false},
		"not as it says":    {"application/json", "gzip", secret, "", true},
		"unknown":           {"application/json", "compress", secret, "", true},
		"of no known type":  {"", "compress", secret, "", true},
		"cut":               {"application/json", "gzip", gzipped(secret)[:len(gzipped(secret))-8], without, true},
		"more than is kept": {"application/json", "gzip", large, (`{"a":"REDACTED","c":"` + strings.Repeat("x", 2000))[:1000+len(without)-len(secret)], true},
	} {
		t.Run(name, func(t *testing.T) {
			d := r.Begin()
			defer d.Release()
			d.Respond(200)
			d.AddResponseField("Content-Type", tc.kind)
			d.AddResponseField("Content-Encoding", tc.coding)
			d.AddResponseField("Content-Length", strconv.Itoa(len(tc.body)))
			d.WriteResponse(t.Context(), []byte(tc.body))
			d.redact(t.Context())
			got := d.response
			if string(got.Body) != tc.want || got.Truncated() != tc.truncated {
				t.Errorf("got %q, truncated %v; want %q", got.Body, got.Truncated(), tc.want)
			}
			unpacked := tc.coding == "gzip" && tc.want != tc.body && tc.want != "" || tc.coding == "gzip, gzip"
			if bytes.Contains(got.Headers, []byte("Content-Encoding: ")) == unpacked ||
				!bytes.Contains(got.Headers, fmt.Appendf(nil, "Content-Length: %d\r\n", got.BodySize)) || !tc.truncated && got.BodySize != uint64(len(tc.want)) {
				t.Errorf("got size %d and header %q", got.BodySize, got.Headers)
			}
		})
	}
}

func TestUnpackingStaysWithinMemory(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactJSON, o.Memory, o.OnOverflow = []string{"$.a"}, 1<<20, Overflow{drop: true}
	w := newWitness()
	r := New(o, w)
	defer r.Close()
	if err := r.budget.grow(t.Context(), new(Draft), 1<<20); err != nil { // all of it
		t.Fatal(err)
	}
	r.budget.queued.Add(1) // so nobody goes beyond it
	defer r.budget.queued.Add(-1)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(append([]byte(`{"a":1}`), bytes.Repeat([]byte(" "), 8<<20)...))
	_ = z.Close()
	d := r.Begin()
	defer d.Release()
	d.AddField("Content-Type", "application/json")
	d.AddField("Content-Encoding", "gzip")
	d.WriteBody(t.Context(), packed.Bytes())
	if d.redact(t.Context()); !d.lost || d.Body != nil {
		t.Errorf("a body was unpacked to %d bytes without memory for it", len(d.Body))
	}
}

// TestJSONThatIsCalledAForm has a body as curl sends it with -d, beside options
// for both kinds.
func TestJSONThatIsCalledAForm(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactJSON, o.RedactQuery = []string{"$.a"}, []string{"a"}
	r := New(o, newWitness())
	for body, want := range map[string]string{`{"a":"secret"}`: `{"a":"REDACTED"}`, "b=1&a=secret": "b=1&a=REDACTED"} {
		d := r.Begin()
		d.AddField("Content-Type", "application/x-www-form-urlencoded")
		d.WriteBody(t.Context(), []byte(body))
		d.redact(t.Context())
		if string(d.Body) != want {
			t.Errorf("%s is recorded as %s", body, d.Body)
		}
		d.Release()
	}
	r.Close()
}

// FuzzRedactJSON holds that a document stays one, without what is to be left out.
func FuzzRedactJSON(f *testing.F) {
	for _, seed := range []string{`{"a":"secret"}`, `[{"a":{"a":1}},[2]]`, `{"\u0061":1}`, `{"a":[`, `1 2`, `{"a":1}{`} {
		f.Add([]byte(seed))
	}
	paths := placesOf(f, []string{"$.a", "$[*].a", "$.b[*]"}, "$.h", "$[*].h")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, whole := redactJSON(body, paths)
		if !json.Valid(body) {
			return
		}
		if !whole && !strings.Contains(string(body), "[[[[") || whole && !json.Valid(got) {
			t.Fatalf("%s became %s, whole %v", body, got, whole)
		}
		var document map[string]any
		if json.Unmarshal(got, &document) == nil {
			if a, ok := document["a"]; ok && a != redacted {
				t.Errorf("%s became %s", body, got)
			}
		}
	})
}
