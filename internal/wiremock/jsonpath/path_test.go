// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"strings"
	"testing"

	"github.com/ohler55/ojg/oj"
)

const document = `{
	"name": "shop", "content-type": "x", "empty": [], "null": null,
	"items": [
		{"name": "Joe", "price": 5, "tags": ["a", "b"]},
		{"name": "Al", "price": 15.5, "gone": null}
	],
	"owner": {"name": "Jo", "price": 20}
}`

func TestGet(t *testing.T) {
	data := oj.MustParseString(document)
	for _, tc := range []struct{ path, want string }{
		{"$.name", `"shop"`},
		{"name", `"shop"`},
		{"$['name']", `"shop"`},
		{"$.content-type", `"x"`},
		{"$.null", `null`},
		{"$.nothing", ``},
		{"$.name.nothing", ``},
		{"$.items.name", ``},
		{"$.items[0].name", `"Joe"`},
		{"$.items[-1].name", `"Al"`},
		{"$.items[2]", ``},
		{"$.owner[0]", ``},
		{"$.items[*].name", `["Joe","Al"]`},
		{"$.items[0,1].price", `[5,15.5]`},
		{"$.items[1:].name", `["Al"]`},
		{"$.items[:1].name", `["Joe"]`},
		{"$.items[:].name", `["Joe","Al"]`},
		{"$.items[-1:].name", `["Al"]`},
		{"$.owner['name','price']", `["Jo",20]`},
		{"$..price", `[5,15.5,20]`},
		{"$..nothing", `[]`},
		{"$.owner.*", `["Jo",20]`},
		{"$.items[?(@.price > 10)].name", `["Al"]`},
		{"$.items[?(@.price > 1 && @.name == 'Joe')].price", `[5]`},
		{"$.items[?(@.gone)].name", `["Al"]`},
		{"$.items[?(@.name =~ /jo.*/i)].name", `["Joe"]`},
		{"$.items[?(@.name =~ /o/)].name", `[]`},
		{`$.items[?(@.name =~ /[A-Z]\w+/)].name`, `["Joe","Al"]`},
		{"$.owner[?(@.price == 20)].name", `["Jo"]`},
		{"$.owner[?(@.price == 21)].name", `[]`},
		{"$.items[?(@.tags.size() == 2)].name", `["Joe"]`},
		{"$.items[?(@['tags'].length() > 1 && @.name == 'Joe')].price", `[5]`},
		{"$[?(@.items.size() == 2)].name", `["shop"]`},
		{"$.items.size()", `2`},
		{"$.items.length()", `2`},
		{"$.name.length()", `4`},
		{"$.owner.length()", `2`},
		{"$.null.length()", ``},
	} {
		path, err := Compile(tc.path)
		if err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		got := ""
		if value, found := path.Get(data); found {
			got = oj.JSON(value)
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.path, got, tc.want)
		}
	}
}

func TestGetWithNulls(t *testing.T) {
	data := oj.MustParseString(`{"a":{"x":1},"b":[{"x":2},{"y":3}],"c":{"y":1},"d":[1,{"e":{"x":null}}]}`)
	for _, tc := range []struct{ path, want string }{
		{"$..x", `[null,1,2,null,null,null,null]`},
		{"$.b[*].x", `[2,null]`},
		{"$.*.x", `[1,null]`},
		{"$.d..x", `[null,null]`},
		{"$..x.z", `[]`},
		{"$.b[*]", `[{"x":2},{"y":3}]`},
		{"$.b[*].x.length()", `2`},
		{"$.a.z", ``},
	} {
		path, err := Compile(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if value, found := path.WithNulls().Get(data); found {
			got = oj.JSON(value)
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.path, got, tc.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "$.", "$[", "$.a b c", "$.items.min()", "$.items[(@.length-1)]",
		"$.items[?(@.name =~ /(?=x)/)]", "$.items[?(@.name =~ /x/q)]", "$.items[?(@.a nin ['x'])]",
	} {
		if path, err := Compile(text); err == nil {
			t.Errorf("'%s' became %v", text, path.steps)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"$.a-b['c'][?(@.x =~ /y/i)].length()", "$..*", "$[1:2,3]"} {
		f.Add(seed)
	}
	data := oj.MustParseString(document)
	f.Fuzz(func(_ *testing.T, text string) {
		if path, err := Compile(text); err == nil && strings.Count(text, "..") < 4 {
			path.Get(data)
		}
	})
}
