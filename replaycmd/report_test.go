// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"encoding/xml"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// redraw runs `caddy replay report`.
func redraw(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	p := new(redrawing)
	return execute(t, t.Context(), strings.NewReader(stdin), p, args)
}

// A report is drawn and judged again from its JSON, and beside an earlier run.
func TestReportsAreDrawnAgain(t *testing.T) {
	delay := time.Millisecond
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { time.Sleep(delay) })
	folder := t.TempDir()
	fast, slow := filepath.Join(folder, "fast.json"), filepath.Join(folder, "slow.json")
	if o := replay(t, "--to", "a="+s.url, "--max", "-c", "4", "-n", "500", "--fail", "errors=0", "-q", "--report", "json="+fast, s.url+"/"); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	delay = 20 * time.Millisecond
	o := replay(t, "--to", "a="+s.url, "--max", "-c", "50", "-n", "500", "--baseline", fast, "--fail", "p50<1.5x baseline", "--report", "text,json="+slow, s.url+"/")
	if o.status != exitFailed || !strings.Contains(o.stdout, "FAILED a: p50<1.5x baseline is at least") || !strings.Contains(o.stdout, "a: service time p50 ") {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	for _, tc := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{slow}, exitFailed, "FAILED a: p50<1.5x baseline"},
		{[]string{fast}, 0, "ok     a: errors=0 is 0"},
		{[]string{fast, "--fail", "p50<1ns", "-q"}, exitFailed, "a: p50<1ns does not hold: it is "},
		{[]string{slow, "--baseline", fast, "--fail", "p50<1000x baseline"}, 0, "ok     a: p50<1000x baseline"},
		{[]string{slow, "--baseline", fast, "--fail", "p99.9<1000x baseline"}, exitFailed, "unknown, as 500 answers beside 500 are too few"},
		{[]string{slow, "--report", "html"}, exitFailed, "<h1>Failed</h1>"},
		{[]string{fast, "--report", "markdown"}, 0, "### ✅ Passed"},
		{[]string{fast, "--fail", "p50<1h", "--report", "html"}, 0, "Judged again: these are not the conditions of the command"},
		{[]string{"-"}, 0, "requests"},
		{[]string{fast, slow}, exitNotStarted, "is not of a shard: reports of several runs are not added up"},
		{[]string{fast, "--report", "csv"}, exitNotStarted, "needs the seconds of a run"},
		{[]string{fast, "--report", "html", "--report", "json"}, exitNotStarted, "two reports go to standard output"},
		{[]string{fast, "--fail", "p99<2x baseline"}, exitNotStarted, "expected --baseline FILE"},
		{[]string{fast, "--fail", "errors=0", "--fail", "diffs=0"}, exitNotStarted, "--fail 'diffs=0' is about comparing: expected the report of a run with --compare"},
		{[]string{fast, "--fail", "unlinked=0"}, exitNotStarted, "--fail 'unlinked=0' is about conversations: expected the report of a run with --links"},
		{[]string{fast, "--fail", "p50<2x old"}, exitNotStarted, "expected the report of a run with --compare"},
		{[]string{filepath.Join(folder, "none.json")}, exitNotStarted, "none.json"},
	} {
		data, err := os.ReadFile(fast)
		if err != nil {
			t.Fatal(err)
		}
		if o := redraw(t, string(data), tc.args...); o.status != tc.status || !strings.Contains(o.stdout+o.stderr, tc.want) {
			t.Errorf("%v: status %d: %s%s", tc.args, o.status, o.stdout, o.stderr)
		}
	}
	none := filepath.Join(folder, "no-report.json")
	if err := os.WriteFile(none, []byte(`{"version":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := redraw(t, "", slow, "--baseline", none); o.status != exitNotStarted || !strings.Contains(o.stderr, "it is no report, which has targets") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if o := redraw(t, "{", "-"); o.status != exitNotStarted || !strings.Contains(o.stderr, "standard input: report is not valid") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if o := replay(t, "--fail", "p99<2x baseline", "-n", "1", s.url); o.status != exitNotStarted || !strings.Contains(o.stderr, "expected --baseline FILE") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	junit := redraw(t, "", slow, "--report", "junit")
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal([]byte(junit.stdout), &suites); err != nil || suites.Tests != 3 || suites.Failures != 1 {
		t.Errorf("%+v, %v: %s", suites, err, junit.stdout)
	}
}
