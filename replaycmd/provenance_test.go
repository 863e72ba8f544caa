// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"runtime"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

func TestReportSaysWhatWasRunWithoutItsSecrets(t *testing.T) {
	s := serve(t, nil)
	o := replay(t, "--to", "a="+s.url, "--rate", "1000/s", "--header", "Authorization: Bearer s3cret", "--header=X-It's: b",
		"--fail", "errors<1", "--fail", "p99<1m", "-q", "--report", "json", "-n", "3", s.url+"/it%2Fem?n=1")
	if o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	r, err := report.Read([]byte(o.stdout))
	if err != nil {
		t.Fatal(err)
	}
	want := "replay --to a=" + s.url + " --rate 1000/s --header 'Authorization: …' --header 'X-It'\\''s: …'" +
		" --fail 'errors<1' --fail 'p99<1m' --quiet --report json --requests 3 '" + s.url + "/it%2Fem?n=1'"
	if r.Run.Command != want {
		t.Errorf("got  %s\nwant %s", r.Run.Command, want)
	}
	if len(r.Run.Sent) != 1 || r.Run.Sent[0] != "GET "+s.url+"/it%2Fem?n=1" {
		t.Errorf("sent %q", r.Run.Sent)
	}
	if !strings.Contains(r.Run.Version, runtime.Version()) || !strings.Contains(r.Run.Machine, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("version %q, machine %q", r.Run.Version, r.Run.Machine)
	}
	var due, sent, ok int64
	for _, m := range r.Targets[0].Timeline {
		due, sent, ok = due+m.Due, sent+m.Sent, ok+m.OK
	}
	if due != 3 || sent != 3 || ok != 3 {
		t.Errorf("the timeline has %d due, %d sent, %d answered", due, sent, ok)
	}
}
