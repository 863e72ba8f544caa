// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"
)

func TestTemplatesTakeRowsInTurnAndAreSeeded(t *testing.T) {
	const text = `{"n":{{.n}},"id":{{json .id}},"r":{{random 1 6}},"p":"{{pick "a" "b"}}"}`
	make3 := func(seed uint64) (bodies []string) {
		tmpl, err := NewTemplate(text, strings.NewReader("id,name\n\"a\"\"b\",x\nc,y\n"), seed)
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

func TestTemplatesThatCannotWorkAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{{.none}}": "no entry for key", "{{": "unclosed action", "{{random 2 1}}": "is no range", "{{pick}}": "nothing to pick",
		`{{range 100000000}}0123456789{{end}}`: "longer than 16 MiB",
	} {
		if _, err := NewTemplate(text, nil, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v", text, err)
		}
	}
	for table, want := range map[string]string{"": "no rows", "id\n": "no rows", "n\n1\n": "called n", "a,b\n1\n": "wrong number of fields"} {
		if _, err := NewTemplate("x", strings.NewReader(table), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v", table, err)
		}
	}
}
