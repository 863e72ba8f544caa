// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"strings"
	"testing"
)

func TestTemplatesTakeRowsInTurnAndAreSeeded(t *testing.T) {
	const text = `{"n":{{.n}},"id":{{json .id}},"r":{{random 1 6}},"p":"{{pick "a" "b"}}"}`
	make3 := func(seed uint64) (bodies []string) {
		tmpl, err := NewTemplate(text, strings.NewReader("\ufeffid,name\n\"a\"\"b\",x\nc,y\n"), seed)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			body, err := tmpl.Next()
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(body))
		}
		return bodies
	}
	got := make3(1)
	for i, want := range []string{`{"n":1,"id":"a\"b","r":`, `{"n":2,"id":"c","r":`, `{"n":3,"id":"a\"b","r":`} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("got %s, want %s…", got[i], want)
		}
	}
	if a, b := strings.Join(got, ""), strings.Join(make3(1), ""); a != b {
		t.Errorf("the same seed makes %s and %s", a, b)
	}
	if a, b := strings.Join(got, ""), strings.Join(make3(2), ""); a == b {
		t.Errorf("two seeds make %s", a)
	}
}

// doublings are templates each of which calls the next one twice.
var doublings = func() string {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, `{{define "t%d"}}{{template "t%d"}}{{template "t%[2]d"}}{{end}}`, i, i+1)
	}
	return text.String() + `{{define "t40"}}{{end}}{{template "t0"}}`
}()

// TestTemplatesHaveTheirStepsForEachBody makes bodies whose loops together take
// more turns than one may.
func TestTemplatesHaveTheirStepsForEachBody(t *testing.T) {
	tmpl, err := NewTemplate(`{{define "x"}}<{{.}}>{{end}}{{range $i := 3}}{{if eq $i 1}}{{continue}}{{end}}{{template "x" $i}}{{end}}{{range 150000}}{{end}}`, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if body, err := tmpl.Next(); err != nil || string(body) != "<0><2>" {
			t.Errorf("got %q, %v", body, err)
		}
	}
}

func TestTemplatesThatCannotWorkAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{{.none}}": "no entry for key", "{{": "unclosed action", "{{random 2 1}}": "is no range", "{{pick}}": "nothing to pick",
		`{{range 100000000}}{{printf "%200d" 1}}{{end}}`:                                        "longer than 16 MiB",
		`{{range 1000000000}}{{end}}`:                                                           "more than 200000 turns",
		`{{if true}}{{with 1}}{{range 2000}}{{range 2000}}{{else}}{{end}}{{end}}{{end}}{{end}}`: "more than 200000 turns",
		`{{range 0}}{{else}}{{range 2000000}}{{end}}{{end}}`:                                    "more than 200000 turns",
		doublings: "more than 200000 turns",
		`{{$x := "0123456789"}}{{range 60}}{{$x = printf "%s%s" $x $x}}{{end}}`: "longer than 16 MiB",
		`{{$x := "0123456789"}}{{range 60}}{{$x = print $x $x}}{{end}}`:         "longer than 16 MiB",
		`{{$x := "\\"}}{{range 60}}{{$x = js $x}}{{end}}`:                       "longer than 16 MiB",
		`{{$x := "\\"}}{{range 60}}{{$x = json $x}}{{end}}`:                     "longer than 16 MiB",
		"{{_step}}{{range 200000}}{{end}}":                                      "more than 200000 turns",
	} {
		if _, err := NewTemplate(text, nil, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", text, err)
		}
	}
	for table, want := range map[string]string{"": "no rows", "id\n": "no rows", "n\n1\n": "called n", "a,b\n1\n": "wrong number of fields", "a,b,a\n1,2,3\n": "two columns are called 'a'"} {
		if _, err := NewTemplate("x", strings.NewReader(table), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v", table, err)
		}
	}
}
