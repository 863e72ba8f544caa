// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/compare"
	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
)

// TestExamplesAreCut has an example of a pair that is large everywhere: 300 of them
// are kept of a shadow.
func TestExamplesAreCut(t *testing.T) {
	large := []byte("X-A: " + strings.Repeat("ä", 1<<20) + "\r\n")
	response := &compare.Response{Status: 200, Header: large, Body: large, Trailer: large}
	s := &shared{options: &Options{}}
	example := s.show(&tally.Pair{ID: "1", Method: []byte("GET"), Target: append([]byte("/"), large...), Header: large, Body: large, Old: response, New: response})
	text, err := json.Marshal(example)
	if err != nil || len(text) > 10*maxShown {
		t.Errorf("it has %d bytes, error %v", len(text), err)
	}
	for _, part := range []string{example.Request.Line, example.Request.Header, example.Request.Body, example.Old.Header, example.New.Trailer} {
		if !strings.Contains(part, "ää\n(the beginning of ") || strings.Contains(part, "\uFFFD") {
			t.Errorf("it ends with %q", part[len(part)-50:])
		}
	}
}
