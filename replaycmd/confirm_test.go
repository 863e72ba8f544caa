// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/compare/tally"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// seldom serves two versions of which the new one has another answer to /items/7.
func seldom(t *testing.T, before func(version string)) (old, fresh *server) {
	version := func(name, seventh string) *server {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			before(name)
			w.Header().Set("Content-Type", "application/json")
			answer := "1"
			if r.URL.Path == "/items/7" {
				answer = seventh
			}
			fmt.Fprintf(w, `{"answer":%s}`, answer)
		})
	}
	return version("old", "1"), version("new", "2")
}

// TestRecordsWithoutIdentifiersAreAskedAgain confirms a difference in one request
// of a recording without identifiers: the record is found by its number, also by
// who wants to see the pair.
func TestRecordsWithoutIdentifiersAreAskedAgain(t *testing.T) {
	old, fresh := seldom(t, func(string) {})
	var requests []*recording.Request
	for i := range 40 {
		requests = append(requests, &recording.Request{
			Method: []byte("GET"), URI: fmt.Appendf(nil, "/items/%d", i), Headers: []byte("Host: shop.test\r\n"), Host: []byte("shop.test"),
		})
	}
	file := writeRequests(t, "nameless.fbf", requests)
	flags := []string{file, "--max", "--to", "old=" + old.url, "--to", "new=" + fresh.url, "--compare", "--noise", "self"}
	o, r := compared(t, 0, flags...)
	if len(r.Differences) != 1 || r.Differences[0].Class != tally.Confirmed || r.Differences[0].ID != "n8" {
		t.Errorf("got %+v\n%s", r.Differences, o.stdout)
	}
	pair := replay(t, append(flags, "-i", "n8")...)
	if !strings.Contains(pair.stdout, "$.answer changed: 1 → 2") {
		t.Errorf("the pair is %s%s", pair.stdout, pair.stderr)
	}
}

// TestAskedAgainAtThePaceOfTheRun holds that nobody is asked again faster than
// the run has asked.
func TestAskedAgainAtThePaceOfTheRun(t *testing.T) {
	var mu sync.Mutex
	came := make(map[string][]time.Time)
	old, fresh := seldom(t, func(version string) {
		mu.Lock()
		defer mu.Unlock()
		came[version] = append(came[version], time.Now())
	})
	file := requestsTo(t, "/items/6", "/items/7", "/items/8")
	_, r := compared(t, 0, file, "--rate", "50/s", "--to", "old="+old.url, "--to", "new="+fresh.url, "--compare=old", "--noise", "self")
	again := came["new"][3:]
	if len(again) < 18 || r.Comparisons[0].Confirming == 0 {
		t.Fatalf("%d requests were asked again", len(again))
	}
	// three requests at 50/s take 40 ms at least, so 13 ms is the distance
	if took := again[len(again)-1].Sub(again[0]); took < time.Duration(len(again)-2)*13*time.Millisecond {
		t.Errorf("%d requests were asked again in %s", len(again), took)
	}
}
