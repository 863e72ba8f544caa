// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/jsonpath"
)

func pathSet(t testing.TB, texts ...string) *jsonpath.Set {
	t.Helper()
	var paths []jsonpath.Path
	for _, text := range texts {
		path, err := jsonpath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	set, err := jsonpath.NewSet(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRedactJSON(t *testing.T) {
	paths := pathSet(t, "$.a", "$.list[*].id", "$['odd name']", "$[*].deep.x")
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
	if got, whole := redactJSON([]byte(`{"a":1}`), pathSet(t, "$")); string(got) != `"REDACTED"` || !whole {
		t.Errorf("got %s for the whole document", got)
	}
}

func TestBodyOfACodingIsNotRecordedBesideRedactJSON(t *testing.T) {
	o := testOptions(t.TempDir())
	o.RedactJSON = []string{"$.a"}
	r := New(o, newWitness())
	for _, coding := range []string{"gzip", "identity"} {
		d := r.Begin()
		d.AddField("Content-Type", "application/json")
		if err := d.ReadBody(t.Context(), strings.NewReader(`{"a":1}`)); err != nil {
			t.Error(err)
		}
		d.Respond(200)
		d.AddResponseField("Content-Type", "application/problem+json")
		d.AddResponseField("Content-Encoding", coding)
		d.AddResponseField("Content-Length", "9")
		d.WriteResponse(t.Context(), []byte(`{"a":"b"}`))
		d.redact()
		if string(d.Body) != `{"a":"REDACTED"}` || d.BodySize != 16 {
			t.Errorf("got request %q", d.Body)
		}
		switch coding {
		case "gzip":
			if len(d.response.Body) != 0 || !d.response.Truncated() {
				t.Errorf("got %q of a body that cannot be looked at", d.response.Body)
			}
		default:
			if string(d.response.Body) != `{"a":"REDACTED"}` || d.response.Truncated() || !bytes.Contains(d.response.Headers, []byte("Content-Length: 16\r\n")) {
				t.Errorf("got %+v", d.response)
			}
		}
		d.Release()
	}
	r.Close()
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
		d.redact()
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
	paths := pathSet(f, "$.a", "$[*].a", "$.b[*]")
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
