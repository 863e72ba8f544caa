// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/scenario"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// newStubs puts mappings in force for a test.
func newStubs(t testing.TB, mappings string) *Stubs {
	t.Helper()
	list, err := wiremock.Parse([]byte(mappings), "stubs.json", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.New(t.Name(), nil, scenario.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	stubs := New(list, Options{Scenario: s})
	t.Cleanup(func() { _ = stubs.Destruct(); _ = s.Destruct() })
	return stubs
}

func header(m *response.Message) string {
	text := ""
	for _, field := range m.Fields {
		text += fmt.Sprintf("%s=%q ", field.Name, field.Values)
	}
	return text
}

// TestMessagesOfTemplates holds that a header is the same whichever parts of it are
// made for each request.
func TestMessagesOfTemplates(t *testing.T) {
	s := newStubs(t, `[
		{"request":{"urlPath":"/body"},"response":{"body":"{{request.query.q}}","headers":{"X-A":["1","2"],"B":"3"},"transformers":["response-template"]}},
		{"request":{"urlPath":"/one"},"response":{"body":"{{request.query.q}}","headers":{"x-a":"{{request.query.q}}","B":"3"},"transformers":["response-template"]}},
		{"request":{"urlPath":"/two"},"response":{"headers":{"X-A":["{{request.query.q}}","2"],"B":"3","Content-Type":"text/{{request.query.q}}"},"transformers":["response-template"]}},
		{"request":{"urlPath":"/same"},"response":{"headers":{"X-A":"{{request.query.q}}","x-a":"2"},"transformers":["response-template"]}}]`)
	for path, want := range map[string]string{
		"/body": `X-A=["1" "2"] B=["3"] Content-Type=[] `,
		"/one":  `X-A=["q"] B=["3"] Content-Type=[] `,
		"/two":  `X-A=["q" "2"] B=["3"] Content-Type=["text/q"] `,
		"/same": `X-A=["q" "2"] Content-Type=[] `,
	} {
		for range 2 {
			r := &wiremock.Request{Method: "GET", Target: path + "?q=q", Header: make(http.Header)}
			a, more, found, err := s.Decide(r, nil)
			if err != nil || !found || more != nil || header(a.Message) != want {
				t.Errorf("%s: got %s, %v, %v, %v, want %s", path, header(a.Message), more, found, err, want)
			}
		}
	}
}

// TestManyAddedMappings holds that adding thousands, one after the other, is no matter
// of minutes, and that there is an end to it.
func TestManyAddedMappings(t *testing.T) {
	s := newStubs(t, `[]`)
	for i := range 5000 {
		m, err := s.read([]byte(fmt.Sprintf(`{"request":{"url":"/%d"}}`, i)), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.add(m); err != nil {
			t.Fatal(err)
		}
	}
	r := &wiremock.Request{Method: "GET", Target: "/4321", Header: make(http.Header)}
	if a, _, found, err := s.Decide(r, nil); !found || err != nil || a.Route != s.mappings()[4321].Name() {
		t.Errorf("got %v, %v, %v", a.Route, found, err)
	}
	s.size = mostMemory
	m, err := s.read([]byte(`{}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.add(m); err != errTooMany {
		t.Errorf("got %v", err)
	}
	if err := s.Reset(); err != nil || len(s.mappings()) != 0 {
		t.Errorf("got %d mappings, %v", len(s.mappings()), err)
	}
}
