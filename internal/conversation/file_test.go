// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

const aFile = `{
  "version": 1,
  "session": [
    "cookie session",
    "bearer"
  ],
  "links": [
    {
      "consumer": {
        "endpoint": "POST /carts/*/items",
        "place": "path 2"
      },
      "producer": {
        "endpoint": "POST /carts",
        "place": "json $.cart"
      },
      "sessions": 100,
      "support": 0.99,
      "chance": 0.002,
      "example": {
        "value": "4711",
        "producer": "id-2",
        "consumer": "id-3"
      }
    }
  ],
  "sessions": {
    "id-1": "00c0ffee00c0ffee"
  }
}
`

func TestFileIsReadAndWritten(t *testing.T) {
	f, err := ParseFile("links.json", []byte(aFile))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{
		Session: []SessionKey{{cookieKey, "session"}, {bearerKey, ""}},
		Links: []Link{{
			Consumer: Slot{"POST /carts/*/items", Place{Kind: Path, Segment: 2}}, Producer: Slot{"POST /carts", Place{Kind: JSON, Name: "$.cart"}},
			Sessions: 100, Support: 0.99, Chance: 0.002, Example: Example{"4711", "id-2", "id-3"},
		}},
		Sessions: map[string]string{"id-1": "00c0ffee00c0ffee"},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("read is %+v", f)
	}
	var text bytes.Buffer
	if err := f.Write(&text); err != nil || text.String() != aFile {
		t.Errorf("written is %s, error %v", &text, err)
	}
}

const aLink = `
{"consumer": {"endpoint": "POST /carts/*/items", "place": "path 2"}, "producer": {"endpoint": "POST /carts", "place": "json $.cart"}}`

func TestFaultsOfFilesNameTheLine(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`"version": 1`, `"version": 2`, "links.json:2: version 2 is not known: expected 1"},
		{`"version": 1,`, ``, "links.json:1: member 'version' is missing"},
		{`"version": 1`, `"version": "1"`, "links.json:2: expected a number, not a string"},
		{`"bearer"`, `"token"`, "links.json:5: 'token' is not the key of a session"},
		{`"bearer"`, `7`, "links.json:5: expected a string, not a number"},
		{`"path 2"`, `"path 0"`, "links.json:11: '0' is not a segment"},
		{`"path 2"`, `"html link"`, "links.json:11: requests have no place 'html link'"},
		{`"json $.cart"`, `"bearer"`, "links.json:15: responses have no place 'bearer'"},
		{`"endpoint": "POST /carts"`, `"endpoint": ""`, "links.json:14: the endpoint is empty"},
		{`"endpoint": "POST /carts"`, `"endpoint": "POST"`, "links.json:14: 'POST' is not an endpoint: expected method and path"},
		{`"endpoint": "POST /carts",`, ``, "links.json:13: member 'endpoint' is missing"},
		{`"support"`, `"share"`, "links.json:18: member 'share' is not known: expected chance, consumer, example, producer, sessions, support"},
		{`0.99`, `99`, "links.json:18: 99 is not a share: expected a number from 0 to 1"},
		{`0.99`, `null`, "links.json:18: null is not taken"},
		{`"chance": 0.002`, `"support": 0.002`, "links.json:19: member 'support' is there twice"},
		{`"sessions": 100,`, `"sessions": 100`, "links.json:18: it is not JSON"},
		{`  "links": [`, `  "links": [` + aLink + `,`, "links.json:9: the link from POST /carts json $.cart to POST /carts/*/items path 2 is there twice, first in line 8"},
		{`"sessions": {`, `"sessions": [`, "links.json:27: expected an object: {"},
		{"  }\n}", "  }\n} 1", "links.json:30: nothing must follow"},
		{"  }\n}", "  }", "links.json:29: it is not JSON: it ends too early"},
		{aFile, "[]", "links.json:1: expected an object"},
		{aFile, "", "links.json:1: it is not JSON: it ends too early"},
	} {
		text := strings.Replace(aFile, test.old, test.new, 1)
		if _, err := ParseFile("links.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("with %s for %s: %v, want %s", test.new, test.old, err, test.want)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(aFile))
	f.Add([]byte(`{"version":1,"session":[],"links":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("f", data)
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := file.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ParseFile("f", first.Bytes())
		if err != nil {
			t.Fatalf("%s is not read: %v", &first, err)
		}
		if err := again.Write(&second); err != nil || first.String() != second.String() {
			t.Errorf("%s became %s, error %v", &first, &second, err)
		}
	})
}
