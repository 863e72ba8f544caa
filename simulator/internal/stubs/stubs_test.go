// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
			var a response.Response
			more, found, err := s.Decide(r, nil, &a)
			if err != nil || !found || more != nil || header(a.Message) != want {
				t.Errorf("%s: got %s, %v, %v, %v, want %s", path, header(a.Message), more, found, err, want)
			}
		}
	}
}

// FuzzAPI sends anything to any path of the API: there is an answer, and what is said of
// a mapping that was taken can be read.
func FuzzAPI(f *testing.F) {
	var patterns []string
	for pattern := range tasks {
		patterns = append(patterns, pattern)
	}
	slices.Sort(patterns)
	for i := range patterns {
		f.Add(uint8(i), `{"id":"11111111-1111-4111-8111-111111111111","name":"a","scenarioName":"s","newScenarioState":"t","metadata":{"a":1},"request":{"url":"/a?b=c"},"response":{"body":"{{request.url}}","transformers":["response-template"]}}`)
		f.Add(uint8(i), `{"url":"/a","headers":{"A":["b",1]},"bodyPatterns":[{"matchesJsonPath":"$.a"}],"cookies":{"c":{"absent":true}}}`)
		f.Add(uint8(i), `{"mappings":[{"request":{"urlPathTemplate":"/{a}"}}],"importOptions":{"deleteAllNotInImport":true},"state":"t","fixedDelay":1,"matchesJsonPath":"$.a"}`)
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		s := newStubs(t, `[{"scenarioName":"s","requiredScenarioState":"Started","metadata":{"a":1},"request":{"url":"/a?b=c"}}]`)
		s.journal = newJournal(JournalOptions{Requests: 10, Bytes: 1 << 20})
		s.api = newAPI(s)
		for _, target := range []string{"/a?b=c", "/none"} {
			r := &wiremock.Request{Method: "GET", Target: target, Header: make(http.Header)}
			if _, found, err := s.Decide(r, nobody{}, new(response.Response)); err != nil {
				t.Fatal(err)
			} else if !found {
				s.Unmatched(r, nobody{})
			}
		}
		method, path, _ := strings.Cut(patterns[int(which)%len(patterns)], " ")
		path = strings.NewReplacer("{id}", s.mappings()[0].ID(), "{name}", "s").Replace(path)
		w := httptest.NewRecorder()
		s.ServeAPI(w, httptest.NewRequest(method, "/", strings.NewReader(body)), path)
		if w.Code == http.StatusInternalServerError && !strings.Contains(w.Body.String(), "cannot be saved") {
			t.Errorf("%s %s: got %d %s", method, path, w.Code, w.Body)
		}
		if kind := w.Header().Get("Content-Type"); strings.HasPrefix(kind, "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: got %s", method, path, w.Body)
		}
		for _, m := range s.mappings() {
			if again, err := s.read(m.JSON(), ""); err != nil || again.ID() != m.ID() && wiremock.IsUUID(m.ID()) {
				t.Errorf("%s: %v", m.JSON(), err)
			}
		}
	})
}

// nobody is the source of a request without anything.
type nobody struct{}

func (nobody) EachField(func(name, value string)) {}
func (nobody) Protocol() string                   { return "HTTP/1.1" }

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
	var a response.Response
	if _, found, err := s.Decide(r, nil, &a); !found || err != nil || a.Route != s.mappings()[4321].Name() {
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
