// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package wiremock

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestEqualToJSON(t *testing.T) {
	const (
		strict = ``
		order  = `,"ignoreArrayOrder":true`
		extra  = `,"ignoreExtraElements":true`
	)
	for _, tc := range []struct {
		expected, flags, actual string
		want                    bool
	}{
		{`{"a":1,"b":[true,null,"x"]}`, strict, "\r\n{ \"b\" :\t[ true , null,\"x\" ] , \"a\" : 1 }\n", true},
		{`{"a":1}`, strict, `{"a":1,"b":2}`, false},
		{`{"a":1,"b":2}`, strict, `{"a":1}`, false},
		{`{"a":1,"b":2}`, strict, `{"a":1,"a":1}`, false},
		{`{"a":1}`, extra, `{"b":{"a":2},"a":1}`, true},
		{`{"a":1}`, strict, `{"a":2,"a":1}`, true},
		{`{"a":1}`, strict, `{"a":1,"a":2}`, false},
		{`{"a":1}`, strict, `{"a":[2],"\u0061":1}`, true},
		{`{"a":1}`, extra, `{"a":2,"b":{"a":1}}`, false},
		{`{"a":{"b":1}}`, extra, `{"b":1,"a":{"b":2}}`, false},
		{`{}`, strict, `{}`, true},
		{`{}`, strict, `[]`, false},
		{`[]`, strict, `[ ]`, true},
		{`[1,2]`, strict, `[2,1]`, false},
		{`[1,2]`, strict, `[1,2,3]`, false},
		{`[1,2,3]`, extra, `[1,2]`, false},
		{`[1,2]`, extra, `[1,2,3]`, true},
		{`[1,2]`, order, `[2,1]`, true},
		{`[1,1]`, order, `[1,2]`, false},
		{`[[1,2],[3]]`, order, `[[3],[2,1]]`, true},
		{`["${json-unit.any-string}","a"]`, order, `["a","b"]`, true},
		{`["${json-unit.any-string}","a"]`, order, `["b","c"]`, false},
		{`{"a":"\u00e9\n\"}]"}`, strict, `{"\u0061":"é\n\"}]"}`, true},
		{`["a\\"]`, strict, `["a\\"]`, true},
		{`["1"]`, strict, `[1]`, false},
		{`1`, strict, `"1"`, false},
		{`1`, strict, `1.0`, true},
		{`1.5`, strict, `15e-1`, true},
		{`9007199254740993`, strict, `9007199254740992`, false},
		{`12345678901234567890`, strict, `12345678901234567890`, true},
		{`true`, strict, `false`, false},
		{`[null,0]`, strict, `[null,null]`, false},
		{`[null]`, strict, `[null]`, true},
		{`{}`, strict, ``, false},
		{`[0.0]`, strict, `[true]`, false},
		{`[1e700]`, strict, `[1E700]`, true},
		{`{"a":1}`, strict, `{"a":1`, false},
		{`{"a":1}`, strict, `{"a":1}}`, false},
		{`{"a":1}`, strict, `{"a":01}`, false},
		{`{"a":"${json-unit.ignore}"}`, strict, `{"a":[{"b":[]}]}`, true},
		{`{"a":"${json-unit.any-number}"}`, strict, `{"a":1e3}`, true},
		{`{"a":"${json-unit.any-number}"}`, strict, `{"a":"1"}`, false},
		{`{"a":"${json-unit.any-boolean}"}`, strict, `{"a":false}`, true},
		{`{"a":"${json-unit.regex}[a-z]+"}`, strict, `{"a":"x"}`, true},
		{`{"a":"${json-unit.regex}[a-z]+"}`, strict, `{"a":"x1"}`, false},
		{`{"a":1}`, extra, strings.Repeat("[", 100_000), false},
	} {
		p, err := parsePattern("", json.RawMessage(`{"equalToJson":`+tc.expected+tc.flags+`}`))
		if err != nil {
			t.Errorf("%s: %v", tc.expected, err)
			continue
		}
		if got := meets(p, present(tc.actual)); got != tc.want {
			t.Errorf("%s%s, %.100q: got %t", tc.expected, tc.flags, tc.actual, got)
		}
	}
}

func TestEqualToJSONWithManyMembers(t *testing.T) {
	var members []string
	for i := range 40 {
		members = append(members, `"`+strings.Repeat("n", i+1)+`":`+strings.Repeat("1", 1+i%9))
	}
	text := "{" + strings.Join(members, ",") + "}"
	p, err := parsePattern("", json.RawMessage(`{"equalToJson":`+text+`}`))
	if err != nil {
		t.Fatal(err)
	}
	if !meets(p, present(text)) || meets(p, present(strings.Replace(text, `"n":1,`, "", 1))) {
		t.Error("a member was not told apart")
	}
}

// FuzzEqualToJSON holds that any JSON is equal to itself however it is laid
// out, and that nothing makes the comparison fail.
func FuzzEqualToJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,{"b":"c\n\u00e9"}],"d":null}`, `[[],{},"",-0,1e9,true]`, `"\\"`, ` {"a" : 1 }`, `{"a"`, `[1]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		some := &equalToJSON{expected: []any{"x"}, anyOrder: true}
		meets(some, present(text))
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var data any
		if decoder.Decode(&data) != nil || strings.Contains(text, "json-unit") {
			return
		}
		short, err := json.Marshal(data)
		if err != nil || json.Unmarshal(short, new(any)) != nil {
			return // a number that is too large
		}
		pattern, err := parsePattern("", json.RawMessage(`{"equalToJson":`+string(short)+`}`))
		if err != nil {
			return // a text that is JSON by itself
		}
		var long bytes.Buffer
		if err := json.Indent(&long, short, "", "\t"); err != nil {
			t.Fatal(err)
		}
		if _, isText := data.(string); !isText && !meets(pattern, present(long.String())) {
			t.Errorf("%s is not equal to itself", short)
		}
	})
}
