// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

// What was not followed is named for CI, and counted for each class.
func TestUnlinkedInOtherForms(t *testing.T) {
	for _, unlinked := range []int64{0, 2} {
		target := Target{
			Name: "a", Requests: 5, Answers: 5, Unlinked: unlinked,
			Links: []Link{{Consumer: "GET /carts/* path 2", Producer: "POST /carts json $.cart", Followed: 3, Gone: unlinked, Elsewhere: 7}},
			By:    []Class{{Name: "/carts", Requests: 5, StatusClasses: map[string]int64{}}, {Name: "/carts/*", Unlinked: unlinked}},
		}
		r := &Report{Version: Version, Targets: []Target{target}}
		var junit, markdown bytes.Buffer
		if err := r.writeJUnit(&junit); err != nil {
			t.Fatal(err)
		}
		var suites junitSuites
		if err := xml.Unmarshal(junit.Bytes(), &suites); err != nil {
			t.Fatal(err)
		}
		answered := suites.Suites[0].Cases[0]
		text := answered.Output
		if answered.Error != nil {
			text = answered.Error.Text
		}
		want := "\n  GET /carts/* path 2 <- POST /carts json $.cart\n"
		if unlinked > 0 {
			want += "    2 unlinked: the value is gone from the answer\n"
		}
		if want += "    7 sent as recorded"; !strings.Contains(text, want) || (answered.Error != nil) != (unlinked > 0) {
			t.Errorf("junit, %d unlinked: %+v", unlinked, answered)
		}
		if err := r.writeMarkdown(&markdown); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(markdown.String(), "| class | requests | errors | unlinked |"); got != (unlinked > 0) {
			t.Errorf("markdown, %d unlinked:\n%s", unlinked, markdown.String())
		}
		if page := htmlOf(t, r); strings.Count(page, ">unlinked</th>") != int(unlinked) {
			t.Errorf("html, %d unlinked, has %d columns", unlinked, strings.Count(page, ">unlinked</th>"))
		}
	}
}
