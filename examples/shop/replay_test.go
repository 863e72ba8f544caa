// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// replayed is what a report in JSON says of the only target.
type replayed struct {
	Requests, Answers, Unlinked int64
	Status                      map[string]int64
}

// replay replays a recording at a new instance with another secret, and returns
// the report and what the command printed and exited with.
func replay(t *testing.T, args ...string) (of replayed, printed string, status int) {
	t.Helper()
	server := httptest.NewServer(newShop("another one"))
	defer server.Close()
	var out, errs strings.Builder
	args = append([]string{"replay", "--rate", "2000", "--report", "json", "--to", "new=" + server.Listener.Addr().String()}, args...)
	cmd := caddytest.Command(t, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var report struct{ Targets []replayed }
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil || len(report.Targets) != 1 {
		t.Fatalf("%v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return report.Targets[0], out.String() + errs.String(), cmd.ProcessState.ExitCode()
}

// allGood reports whether all requests were sent and none was refused: none was
// when they were recorded.
func (r *replayed) allGood() bool {
	bad := slices.ContainsFunc(slices.Collect(maps.Keys(r.Status)), func(status string) bool { return status[0] != '2' && status[0] != '3' })
	return r.Answers > 0 && r.Answers == r.Requests && r.Unlinked == 0 && !bad
}

// TestReplayAHundredUsers replays them at an instance that knows none of their
// cookies, carts, orders and tokens.
func TestReplayAHundredUsers(t *testing.T) {
	dir := record(t, 100, "")
	got, printed, status := replay(t, dir)
	if refused := got.Status["401"] + got.Status["403"] + got.Status["404"]; status != 0 || got.Requests < 1000 || refused < got.Requests*3/4 {
		t.Errorf("without links: status %d, %d of %d requests refused\n%s", status, refused, got.Requests, printed)
	}
	good := []string{"--compare", "--noise", "self", "--fail", "diffs=0", "--fail", "unlinked=0", dir}
	file := filepath.Join(t.TempDir(), "links.json")
	if out, err := caddytest.Command(t, "replay", "links", "-o", file, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, from := range []string{"auto", file} {
		with, printed, status := replay(t, append([]string{"--links", from}, good...)...)
		if status != 0 || !with.allGood() || with.Requests != got.Requests {
			t.Errorf("--links %s: status %d\n%s", from, status, printed)
		}
	}
}

// TestReplayARedactedRecording follows links that are found in hashes.
func TestReplayARedactedRecording(t *testing.T) {
	dir := record(t, 40, ` {
			redact_hash Authorization Cookie Set-Cookie
			redact_json_hash $.token
		}`)
	got, printed, status := replay(t, "--links", "auto", "--compare", "--noise", "self", "--fail", "diffs=0", "--fail", "unlinked=0", dir)
	if status != 0 || !got.allGood() || got.Requests < 400 {
		t.Errorf("status %d\n%s", status, printed)
	}
}
