// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"
	"testing"
)

const document = `{
	"name": "shop", "content-type": "x", "empty": [], "null": null,
	"items": [
		{"name": "Joe", "price": 5, "tags": ["a", "b"]},
		{"name": "Al", "price": 15.5, "gone": null}
	],
	"owner": {"name": "Jo", "price": 20}
}`

func mustParse(text string) any {
	document, ok := ParseJSON(text)
	if !ok {
		panic(text)
	}
	return document
}

// budget returns enough for the documents of the tests.
func budget() *Budget { b := NewBudget(1000); return &b }

func TestGet(t *testing.T) {
	data := mustParse(document)
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
		{"$.items[-1:].name", `["Al"]`},
		{"$.owner['name','price']", `{"name":"Jo","price":20}`},
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
		{"$.name.length()", `null`},
		{"$.owner.length()", `2`},
		{"$.null.length()", `null`},
		{"$.['name']", `"shop"`},
		{"$.items[?(@.name != 'Joe')].name", `["Al"]`},
		{"$.items[?(!(@.gone))].name", `["Joe"]`},
		{"$.items[?(@.tags == ['a', 'b'])].name", `["Joe"]`},
		{"$.items[?(@.tags != ['a', 'b'])].name", `["Al"]`},
		{"$.items[?('a' in @.tags)].name", `["Joe"]`},
		{"$.items[?(@.name in ['Al', 'Bo'])].name", `["Al"]`},
		{"$.items[?(@.tags in [1, 'x'])].name", `[]`},
		{"$.items[?(@.price == $.owner.price || @.price < 6.5)].name", `["Joe"]`},
		{"$.items[?(@.name =~ /(?!J).*/)].name", `["Al"]`},
		{"$.items[?(@.tags empty false)].name", `["Joe"]`},
		{"$[?(@.owner == @.owner)].name", `["shop"]`},
		{"$[?(@.owner != @.items)].name", `["shop"]`},
		{"$[?(@.owner in @.items)].name", ``},
		{"$[?(@.owner == @.null)].name", `[]`},
		{"$[?(@.nothing == @.null)].name", `[]`},
		{"$[?(@.empty == @.empty && @.items[*].price contains 5)].name", `["shop"]`},
	} {
		path, err := CompilePath(tc.path)
		if err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		got := ""
		if value, outcome := path.Get(data, budget()); outcome == Found {
			got = string(AppendJSON(nil, value, budget()))
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.path, got, tc.want)
		}
	}
}

func TestGetWithNulls(t *testing.T) {
	data := mustParse(`{"a":{"x":1},"b":[{"x":2},{"y":3}],"c":{"y":1},"d":[1,{"e":{"x":null}}]}`)
	for _, tc := range []struct{ path, want string }{
		{"$..x", `[null,1,2,null,null,null,null]`},
		{"$.b[*].x", `[2,null]`},
		{"$.*.x", `[1,null]`},
		{"$.d..x", `[null,null]`},
		{"$..x.z", `[]`},
		{"$.b[*]", `[{"x":2},{"y":3}]`},
		{"$.b[*].length()", `[1,1]`},
		{"$.a.z", `null`},
	} {
		path, err := CompilePath(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if value, outcome := path.WithNulls().Get(data, budget()); outcome == Found {
			got = string(AppendJSON(nil, value, budget()))
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.path, got, tc.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "$.", "$[", "$.a b c", "$.items.nosuch()", "$.items[:]", "$.items[(@.length-1)]",
		"$.items[?(@.name =~ /(/)]", "$.items[?(@.name =~ /x/q)]", "$.items[?(@.a near ['x'])]", "$.a[?(1)]", "$.a[?(@.b == )]",
		"$.a[?(@.b in [1)]", "$.a['b", "$.a[?(@.b =~ /x)]", "$.a[1", "$.a[]", "$.a[1:b]", "$.a[?(@.b == inf)]", "$.a.b().c",
		"$.a[?(" + strings.Repeat("(", 60) + "@.b" + strings.Repeat(")", 60) + ")]", "$.a[?" + strings.Repeat("!", 60) + "@.b]",
	} {
		if path, err := CompilePath(text); err == nil {
			t.Errorf("'%s' became %v", text, path.steps)
		}
	}
}

// TestPlainTexts holds which escapes of JSON stay.
func TestPlainTexts(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"\u003cb\u003e \/","c\u00e9":[1e3,"\"\\\n\u0001"]}`: `{"a":"<b> /","cé":[1e3,"\"\\\n\u0001"]}`,
		`{"a":1}`:        `{"a":1}`,
		`"\ud83d\ude00"`: `"😀"`,
	} {
		if got := string(PlainTexts([]byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestComparedByValue holds which values of a document equal one another, and
// that nothing in a document makes a comparison panic.
func TestComparedByValue(t *testing.T) {
	values := []string{`1`, `1.0`, `"1"`, `true`, `null`, `[]`, `[1]`, `[[1]]`, `{}`, `{"a":1}`, `{"a":[1]}`, `1e999`, `123456789012345678901234567890`, `"$.a"`}
	for operator := range operators {
		path, err := CompilePath("$[?(@.a " + operator + " @.b)]")
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range values {
			for j, b := range values {
				document, ok := ParseJSON(`{"a":` + a + `,"b":` + b + `}`)
				if !ok {
					t.Fatal(a, b)
				}
				found, outcome := path.Get(document, budget())
				if operator != "==" && operator != "!=" {
					continue
				}
				same := i == j || i < 3 && j < 3 && a+b != `"1"1.0`
				if met := outcome == Found && len(found.([]any)) == 1; met != same == (operator == "==") {
					t.Errorf("%s %s %s: %t", a, operator, b, met)
				}
			}
		}
	}
}

// FuzzPath holds that whatever the path and the document, the work is bounded
// by the budget: what is found, and what is written of it.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"$.a-b['c'][?(@.x =~ /y/i)].length()", "$..*", "$[1:2,3]", "$..a..b..c", "$..[?(@.a == @.b && !(@.c in [1,'x']))]",
		"$.items[?($..price > @.price)]", "$[?(@.a == @.a)]", "$[-1:][0,1]['a','b'].size()", "$..a.sum()", "$[?(@.a contains 'x' || !@.b)]['a','b']",
		"$[?(@.a subsetof [\"x\", {'y': z}] && @.b nin $.c)]",
	} {
		f.Add(seed, document)
		f.Add(seed, `{"a":[[1],{"b":[1,{"c":{"a":{"a":{"a":[]}}}}]}],"b":[[1]]}`)
	}
	f.Fuzz(func(t *testing.T, text, json string) {
		path, err := CompilePath(text)
		data, ok := ParseJSON(json)
		if err != nil || !ok {
			return
		}
		const most = 1 << 16
		b := Budget{most}
		found, _ := path.WithNulls().Get(data, &b)
		if list, many := found.([]any); many && !path.definite && kept*len(list) > most {
			t.Fatalf("%d places", len(list))
		}
		out := AppendIndented(AppendJSON(nil, found, &b), found, &b)
		if len(out) > 16*most {
			t.Fatalf("%d bytes of %d", len(out), len(json))
		}
	})
}
