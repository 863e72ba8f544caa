// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// reportIn reads the JSON report in a file.
func reportIn(t *testing.T, name string) *report.Report {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r := new(report.Report)
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReportsSayWhatTheExitStatusDoes has every form of the report, also drawn
// again, know that the run lacks something which no target is to blame for.
func TestReportsSayWhatTheExitStatusDoes(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	name := write(t, "r.fbf", 3, time.Millisecond)
	run, page := filepath.Join(t.TempDir(), "run.json"), filepath.Join(t.TempDir(), "run.md")
	o := replay(t, "--to", s.url, "--id", "id-1", "--id", "nobody", "--fail", "errors=0", "--report", "json="+run+",markdown="+page, name)
	if o.status != exitIncomplete {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
	if r := reportIn(t, run); len(r.Incomplete) != 1 || !strings.Contains(r.Incomplete[0], "nobody") {
		t.Errorf("the report lacks %q", r.Incomplete)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "no record has the identifier nobody") || strings.Contains(string(text), "Passed") {
		t.Errorf("%v in %s", err, text)
	}
	again := redraw(t, "", run, "--report", "junit")
	if again.status != exitIncomplete || !strings.Contains(again.stdout, `errors="1"`) {
		t.Errorf("drawn again: status %d, %s", again.status, again.stdout)
	}
}

// TestASearchOnADamagedRecordingIsIncomplete says so once, however many rates read
// the recording again.
func TestASearchOnADamagedRecordingIsIncomplete(t *testing.T) {
	s := serve(t, limiter(120, 1))
	name := write(t, "r.fbf", 3, time.Millisecond)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data[:len(data)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run.json")
	o := replay(t, "--to", s.url, "--find-rate", "errors=0", "--rate", "1000000/s", "--duration", "2ms", "-c", "1", "--report", "json="+run, name)
	r := reportIn(t, run)
	if r.Found == nil || len(r.Found.Tried) < 2 {
		t.Fatalf("found %+v, %s", r.Found, o.stderr)
	}
	if r.Found.Rate > 0 && o.status != exitIncomplete {
		t.Errorf("status %d", o.status)
	}
	if n := strings.Count(o.stderr, "cut off"); len(r.Problems) != 1 || n != 1 {
		t.Errorf("said %d times, %q", n, r.Problems)
	}
}

// TestAnInterruptedRunThatJudgedNothingHasNotPassed ends a run whose only request
// is not answered yet.
func TestAnInterruptedRunThatJudgedNothingHasNotPassed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	})
	o := replayWith(t, ctx, nil, "-n", "1", "--fail", "errors=0", s.url)
	if o.status != exitIncomplete || !strings.Contains(o.stderr+o.stdout, "interrupted before there was anything to judge") {
		t.Errorf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
}

// full is a writer of which nothing comes out.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space is left") }

func TestWhatCannotBeSaidIsNotDone(t *testing.T) {
	name := write(t, "r.fbf", 3, time.Millisecond)
	for _, flag := range []string{"--test", "--dry-run"} {
		p := new(params)
		status := -1
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, args []string) (err error) {
			status, err = p.run(cmd, args)
			return err
		}}
		p.define(cmd.Flags())
		cmd.SetArgs([]string{flag, name})
		cmd.SetOut(full{})
		if err := cmd.ExecuteContext(t.Context()); status != exitIncomplete || err == nil {
			t.Errorf("%s: status %d, %v", flag, status, err)
		}
	}
}

// TestNothingIsUnlinkedWithoutASession has a condition judge nothing, neither in the
// run nor when its report is drawn again.
func TestNothingIsUnlinkedWithoutASession(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	links, run := filepath.Join(t.TempDir(), "links.json"), filepath.Join(t.TempDir(), "run.json")
	text := `{"version":1,"session":["cookie sid"],"links":[{"consumer":{"endpoint":"GET /0","place":"query q"},"producer":{"endpoint":"GET /1","place":"json $.q"}}]}`
	if err := os.WriteFile(links, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	name := write(t, "r.fbf", 3, time.Millisecond)
	for key, status := range map[string]int{"cookie nobody": exitFailed, "cookie id": 0} {
		o := replay(t, "--to", s.url, "--links", links, "--session", key, "--max", "--fail", "unlinked=0", "--report", "text,json="+run, name)
		if o.status != status || status > 0 && !strings.Contains(o.stdout, "unlinked=0 is unknown, as no record has a session") {
			t.Errorf("%s: status %d, %s%s", key, o.status, o.stdout, o.stderr)
		}
		if again := redraw(t, "", run, "--fail", "unlinked<1%"); again.status != status {
			t.Errorf("%s: drawn again: status %d, %s", key, again.status, again.stdout)
		}
	}
}
