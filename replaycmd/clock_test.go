// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"net/http"
	"regexp"
	"testing"
	"time"
)

// A server whose clock is off is named, in words and figures; one whose clock is
// right, and one without a Date, are not.
func TestClockOfATarget(t *testing.T) {
	dated := func(by time.Duration) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
		}).url
	}
	none := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil }).url
	args := []string{"-n", "50", "--rate", "100/s", "--report", "text"}
	o := replay(t, append(args, "--to", "ahead="+dated(time.Minute), "--to", "behind="+dated(-time.Hour), "--to", "right="+dated(0), none)...)
	if !regexp.MustCompile(`(?m)^clock, by its Date +(1m0|59\.\d+ s|60\.\d+ s).*ahead +.*behind *$`).MatchString(o.stdout) {
		t.Errorf("got\n%s", o.stdout)
	}
	if o = replay(t, append(args, "--to", "right="+dated(0), "--to", "none="+none, none)...); regexp.MustCompile("clock").MatchString(o.stdout) {
		t.Errorf("got\n%s", o.stdout)
	}
}
