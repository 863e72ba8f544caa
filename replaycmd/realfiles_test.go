// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// Files that GoReplay and Chromium have written are replayed into a blackhole,
// which gets all that they hold.
func TestFilesOfOtherToolsArriveWhole(t *testing.T) {
	for _, file := range []string{"requests.gor", "chromium.har"} {
		arriveWhole(t, "../internal/recording/foreign/testdata/"+file)
	}
}

// arriveWhole replays a file into a blackhole, and compares method, target, fields
// and body of each request that it has with what was recorded there.
func arriveWhole(t *testing.T, file string) {
	t.Helper()
	dir, addr := t.TempDir(), caddytest.Addr(t)
	caddy := caddytest.Run(t, blackhole(addr, dir))
	if o := replay(t, "--to", addr, "--max", "-c", "1", file); o.status != 0 {
		t.Fatalf("%s: status %d, %s%s", file, o.status, o.stdout, o.stderr)
	}
	caddy.Reload(":" + port(addr) + " {\nrespond bye\n}\n") // ends the recording
	want, got := read(t, file), read(t, dir)
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%s: %d of %d requests arrived", file, len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if !bytes.Equal(w.Method, g.Method) || !bytes.Equal(w.URI, g.URI) || !bytes.Equal(w.Body, g.Body) {
			t.Errorf("%s: sent %s %s with %q\narrived %s %s with %q", file, w.Method, w.URI, w.Body, g.Method, g.URI, g.Body)
		}
		if sent, arrived := fieldsOf(w), fieldsOf(g); !slices.Equal(sent, arrived) {
			t.Errorf("%s: %s %s sent\n%q\narrived\n%q", file, w.Method, w.URI, sent, arrived)
		}
	}
}

// fieldsOf returns the fields of a request that are about it and not about a
// connection or the length of what is there of its body, sorted.
func fieldsOf(r *recording.Request) (fields []string) {
	for name, value := range recording.EachField(r.Headers) {
		switch lower := strings.ToLower(string(name)); lower {
		case "connection", "content-length", "transfer-encoding":
		default:
			fields = append(fields, lower+": "+string(value))
		}
	}
	slices.Sort(fields)
	return fields
}
