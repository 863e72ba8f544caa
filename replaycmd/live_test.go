// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

func TestLiveFitsTheTerminal(t *testing.T) {
	names := make([]string, 12)
	all, before := make([]report.Running, 12), make([]report.Running, 12)
	for i := range names {
		names[i] = strings.Repeat("größe\x1b[2J", 1+i)
		all[i] = report.Running{Requests: 1_234_567_890, Errors: 9_999_999, P50: 12_345 * time.Microsecond, P99: 23 * time.Hour}
	}
	for _, width := range []int{1, 20, 40, 71, 72, 80, 200} {
		lines := liveLines(width, names, all, before, 0.5, time.Hour, 0.314)
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > max(width-1, 1) || strings.Contains(line, "\x1b") {
				t.Errorf("%d columns: %d characters: %q", width, n, line)
			}
		}
		if len(lines) > 2*liveTargets+2 {
			t.Errorf("%d columns: %d lines", width, len(lines))
		}
	}
	before[0].Requests = all[0].Requests - 250
	all[0].P50 = 0
	got := strings.Join(liveLines(80, names[:1], all[:1], before[:1], 0.5, 65*time.Second, 0.314), "\n")
	for _, want := range []string{"1m5s, 31%\n", "1234567890", " 500/s ", " 9999999 ", " - ", "82800.00s"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	narrow := strings.Join(liveLines(40, []string{"a"}, all[:1], before[:1], 0.5, time.Second, -1), "\n")
	if narrow != "1s\na: 1234567890 sent, 500/s\n  9999999 errors, p50 -, p99 82800.00s" {
		t.Errorf("got\n%s", narrow)
	}
}

// A name is cut only where there is no room for it.
func TestLiveNamesAreToldApartInFortyColumns(t *testing.T) {
	names := []string{"127.0.0.1:31001", "127.0.0.1:31002"}
	figures := make([]report.Running, 2)
	got := strings.Join(liveLines(40, names, figures, figures, 0.5, time.Second, -1), "\n")
	for _, name := range names {
		if !strings.Contains(got, name+": 0 sent, 0/s\n") {
			t.Errorf("%s is missing in\n%s", name, got)
		}
	}
}

// Where nothing can be drawn in place the figures are a line.
func TestLiveInOneLine(t *testing.T) {
	view := liveView{
		names: []string{"old", "new\x1b[2J"}, seconds: 10, elapsed: 20 * time.Second, fraction: 0.5,
		all:    []report.Running{{Requests: 3000, Errors: 2, P50: time.Millisecond, P99: 20 * time.Millisecond}, {Requests: 10}},
		before: []report.Running{{Requests: 1000}, {}},
	}
	const want = `20s, 50%; old: 3000 sent, 200/s, 2 errors, p50 1.00ms, p99 20.00ms; new\x1b[2J: 10 sent, 1/s, 0 errors, p50 -, p99 -`
	if got := view.plain(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLiveIsThePlainLineWhereThereIsNoTerminal(t *testing.T) {
	s := serve(t, nil)
	if o := replay(t, "--live", "-n", "5", s.url); o.status != 0 || o.stderr != "" || strings.Contains(o.stdout, "\x1b") {
		t.Errorf("status %d: %q %q", o.status, o.stderr, o.stdout)
	}
	if o := replay(t, "--live", "-q", "-n", "5", s.url); o.status != exitNotStarted || !strings.Contains(o.stderr, "--live and --quiet") {
		t.Errorf("status %d: %q", o.status, o.stderr)
	}
}
