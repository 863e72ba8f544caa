// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/caddy-rehearsal/rehearsal/internal/response"
	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// TestJournalStaysWithinItsMemory has responses of which more is made for a request
// than the journal may keep: large bodies, whether the header is made for it as well or
// not, and large headers.
func TestJournalStaysWithinItsMemory(t *testing.T) {
	s := newStubs(t, `[
		{"request":{"urlPath":"/body"},"response":{"body":"{{request.query.q}}","transformers":["response-template"]}},
		{"request":{"urlPath":"/both"},"response":{"body":"{{request.query.q}}","headers":{"A":"{{request.method}}"},"transformers":["response-template"]}},
		{"request":{"urlPath":"/lines"},"response":{"body":"{{request.query.q}}","headers":{"A":["{{request.method}}","b"]},"transformers":["response-template"]}},
		{"request":{"urlPath":"/header"},"response":{"headers":{"A":"{{request.query.q}}"},"transformers":["response-template"]}}]`)
	s.journal = newJournal(JournalOptions{Requests: 100, Bytes: 20_000})
	long := strings.Repeat("x", 6_000)
	decide := func(path string) *response.Response {
		a := new(response.Response)
		r := &wiremock.Request{Method: "GET", Target: path + "?q=" + long, Header: make(http.Header)}
		if _, found, err := s.Decide(r, nobody{}, a); err != nil || !found {
			t.Fatalf("%s: found %v, %v", path, found, err)
		}
		return a
	}
	for _, path := range []string{"/body", "/both", "/lines"} {
		body := weak.Make(&decide(path).Content.Parts[0][0])
		for range 3 {
			runtime.GC()
		}
		if body.Value() != nil {
			t.Errorf("%s: the body is kept, though it is too large", path)
		}
		if latest := s.journal.all()[0].answer.Load(); latest.Status != 200 || latest.Content.Size != 0 {
			t.Errorf("%s: the journal has %+v", path, latest)
		}
	}
	s.journal = newJournal(JournalOptions{Requests: 100, Bytes: 20_000})
	for range 4 {
		decide("/header")
	}
	if n := len(s.journal.all()); n != 1 {
		t.Errorf("%d requests with a header of their response, want 1 of 12,000 bytes", n)
	}
}
