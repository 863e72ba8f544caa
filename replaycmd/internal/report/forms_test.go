// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

func TestJUnitHasACaseOfEachConditionAndCheck(t *testing.T) {
	r := sampleReport(t, "a", "b")
	r.Targets[1].Errors, r.Targets[1].Unsent = 0, 0
	r.Checks = []Check{{"p99<1s", "a", "2s", false}, {"p99<1s", "b", "20ms", true}}
	r.Problems = []string{"x.lz4: cut\x00"}
	var out bytes.Buffer
	if err := r.writeJUnit(&out); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(out.Bytes(), &suites); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	var got []string
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			result := "ok"
			if c.Failure != nil {
				result = "failure " + c.Failure.Message
			}
			if c.Error != nil {
				result = "error " + c.Error.Message + ": " + c.Error.Text
			}
			got = append(got, fmt.Sprintf("%s/%s %s", s.Name, c.Name, result))
		}
	}
	want := []string{
		"a/p99<1s failure p99<1s does not hold: it is 2s",
		"a/all requests answered error 1 of 100 requests have no answer: refused: 1",
		"b/p99<1s ok", "b/all requests answered ok",
		`run/recordings read and sent error part of the recording could not be read: x.lz4: cut\x00`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if suites.Tests != 5 || suites.Failures != 1 || suites.Errors != 2 {
		t.Errorf("%d tests, %d failures, %d errors", suites.Tests, suites.Failures, suites.Errors)
	}
}

func TestMarkdownFitsAComment(t *testing.T) {
	markdown := func(r *Report) string {
		var out bytes.Buffer
		if err := r.writeMarkdown(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	r := sampleReport(t, "old", "new")
	r.Checks = []Check{{"p99<1s", "new", "2s", false}}
	got := markdown(r)
	for _, want := range []string{"### ❌ Failed\n", "- `new: p99<1s does not hold: it is 2s`\n", "| ❌ failed | `p99<1s` | new | 2s |\n", "| old | 100 | 1 | "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	names := make([]string, 60)
	for i := range names {
		names[i] = strings.Repeat("|@everyone #1 <img> [x](http://y.test) ", 5) + fmt.Sprint(i)
	}
	r = sampleReport(t, names...)
	for i := range 500 {
		r.Checks = append(r.Checks, Check{names[0], names[1], names[2], i > 3})
	}
	got = markdown(r)
	if len(got) > 60_000 || !strings.Contains(got, "40 more targets are") || !strings.Contains(got, "450 more conditions are") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	for line := range strings.Lines(got) {
		if text := withoutCode(line); strings.Contains(text, "@") || strings.Contains(strings.ReplaceAll(text, "&#", ""), "#1") || strings.Contains(text, " <img") || strings.Contains(text, "http:") {
			t.Errorf("%q means something", line)
		}
	}
	for text, want := range map[string]string{"a`b": "``a`b``", "`": "`` ` ``", "": "", "a|b": "`a\\|b`"} {
		if got := code(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// withoutCode returns a line without what stands between backticks.
func withoutCode(line string) string {
	var out strings.Builder
	for i, part := range strings.Split(line, "`") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}
