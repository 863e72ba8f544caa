// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"$":                     "$",
		"$.items[*].id":         "$.items[*].id",
		"$['odd name']":         "$['odd name']",
		`$["odd name"].x`:       "$['odd name'].x",
		"$['plain']":            "$.plain",
		"$.by_id.*.price":       "$.by_id[*].price",
		`$['it\'s']['a\\b']`:    `$['it\'s']['a\\b']`,
		"$['']":                 "$['']",
		"$.größe[*][*].x-y.0":   "$.größe[*][*].x-y.0",
		"$['a.b']['*']":         "$['a.b']['*']",
		`$["say 'so'"]["\"[]"]`: `$['say \'so\'']['"[]']`,
	} {
		path, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := path.String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "character 1: expected $",
		"items.id":                      "character 1: expected $",
		"$..id":                         "character 2: '..' is not taken",
		"$.items..id":                   "character 8: '..' is not taken",
		"$.items[?(@.id)]":              "character 8: filters are not taken",
		"$.größe[?@.id]":                "character 8: filters are not taken",
		"$.items[(@.length-1)]":         "character 8: filters are not taken",
		"$.items[0]":                    "character 9: expected * or a quoted name",
		"$.items[*":                     "character 9: expected * or a quoted name",
		"$.items.":                      "character 9: expected a name",
		"$['a":                          "character 5: expected ']",
		"$['a'":                         "character 6: expected ]",
		`$['a\`:                         "expected a character behind the backslash",
		"$x":                            "character 2: expected . or [",
		"$.a b":                         "character 4: expected . or [",
		"$" + strings.Repeat(".a", 101): "expected at most 100 steps",
	} {
		if path, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v and error %v, want %s", text, path, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	var paths []Path
	for _, text := range []string{"$.a.b", "$[*].c", "$.a[*]", "$.list[*].id", "$.*.*.x"} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	set, err := NewSet(paths...)
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]bool{
		"": false, "a": false, "a b": true, "a z": true, "a z x": true, "q c": true, "q d": false,
		"list [ id": true, "list [ x": true, "list [ y": false, "list c": true, "[ c": true, "q r s t": false,
	} {
		at := set
		for step := range strings.FieldsSeq(place) {
			if step == "[" {
				at = at.Element()
			} else {
				at = at.Child([]byte(step))
			}
		}
		if at.Here() != want {
			t.Errorf("%q: got %v", place, !want)
		}
	}
	if none, err := NewSet(); none != nil || err != nil || none.Here() || none.Child([]byte("a")) != nil || none.Element() != nil {
		t.Error("a set of no paths has some")
	}
}

func TestSetIsBounded(t *testing.T) {
	var paths []Path
	for i := range 40 {
		p := make(Path, 40)
		for j := range p {
			p[j] = Step{Any: true}
		}
		p[i] = Step{Name: fmt.Sprint("n", i)}
		paths = append(paths, p)
	}
	if _, err := NewSet(paths...); err == nil {
		t.Error("paths that multiply are taken")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"$", "$.a[*]['b']", `$["\\"]`, "$..a", "$.é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(path.String())
		if err != nil || again.String() != path.String() {
			t.Errorf("%q became %q, then %q (%v)", text, path, again, err)
		}
	})
}
