// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package stubs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/wiremock"
)

// TestSearchesEnd holds that a call whose conditions cost too much ends with an
// error, however many requests are in the journal, and changes nothing.
func TestSearchesEnd(t *testing.T) {
	s := newStubs(t, `[{"metadata":{"a":"`+strings.Repeat("a", 5000)+`!"},"request":{"url":"/mine"}}]`)
	s.journal = newJournal(JournalOptions{Requests: 100, Bytes: 1 << 22})
	s.api = newAPI(s)
	for range 100 {
		s.Unmatched(&wiremock.Request{Method: "GET", Target: "/" + strings.Repeat("a", 5000) + "!", Header: make(http.Header)}, nobody{})
	}
	const endless = `(?=.)(.*)*(.*)*(.*)*b` // of which every way is tried
	for path, body := range map[string]string{
		"/requests/count":              `{"urlPattern":"` + endless + `"}`,
		"/requests/find":               `{"urlPattern":"` + endless + `"}`,
		"/requests/remove":             `{"urlPattern":"` + endless + `"}`,
		"/near-misses/request-pattern": `{"urlPattern":"` + endless + `"}`,
		"/mappings/find-by-metadata":   `{"matchesJsonPath":{"expression":"$.a","matches":"` + endless + `"}}`,
		"/mappings/remove-by-metadata": `{"matchesJsonPath":{"expression":"$.a","matches":"` + endless + `"}}`,
	} {
		w := httptest.NewRecorder()
		s.ServeAPI(w, httptest.NewRequest("POST", "/", strings.NewReader(body)), path)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `"detail": "for number 1 of `) {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	if n, m := len(s.journal.all()), len(s.mappings()); n != 100 || m != 1 {
		t.Errorf("%d requests and %d mappings are left", n, m)
	}
}

// TestSearchesTakeTheirTime holds that a call ends when it has taken too long, though
// each request costs little, or when the client has left.
func TestSearchesTakeTheirTime(t *testing.T) {
	over := search{t.Context(), time.Now().Add(-time.Second)}
	list, err := among(over, []int{1, 2}, func(int) (bool, error) { return true, nil })
	if list != nil || err == nil || !strings.Contains(err.Error(), "0 of 2 were looked at") {
		t.Errorf("got %v, %v", list, err)
	}
}
