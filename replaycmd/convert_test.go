// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func convert(t *testing.T, args ...string) outcome {
	t.Helper()
	c := new(converting)
	return execute(t, t.Context(), nil, c, args)
}

// GoReplay's own file goes through every form and comes back with every byte.
func TestConvertThroughEveryForm(t *testing.T) {
	const original = "../internal/recording/foreign/testdata/requests.gor"
	want := read(t, original)
	dir := t.TempDir()
	from := original
	for _, name := range []string{"a.fbf", "b.lz4", "c.jsonl", "d.har.gz", "e.gor", "f.fbf.lz4"} {
		to := filepath.Join(dir, name)
		if o := convert(t, "-o", to, from); o.status != 0 || !strings.Contains(o.stderr, "5 records in ") || strings.Contains(o.stderr, "Warning") {
			t.Fatalf("%s: status %d, %s", name, o.status, o.stderr)
		}
		from = to
	}
	got := read(t, from)
	if len(got) != len(want) {
		t.Fatalf("%d records", len(got))
	}
	for i := range got {
		w, g := want[i], got[i]
		if string(w.Headers) != string(g.Headers) || string(w.Body) != string(g.Body) || string(w.URI) != string(g.URI) ||
			string(w.ID) != string(g.ID) || w.TimeNS != g.TimeNS || !reflect.DeepEqual(w.Response.Headers, g.Response.Headers) ||
			w.Response.Status != g.Response.Status || w.Response.DurationNS != g.Response.DurationNS {
			t.Errorf("got %+v\nwant %+v", g, w)
		}
	}
}

func TestConvertSelectsAndRefuses(t *testing.T) {
	dir := t.TempDir()
	path := write(t, "a.fbf", 3, 0)
	if o := convert(t, "-o", "-", "--as", "jsonl", "-n", "2", path); o.status != 0 || strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stdout, `"url":"http://shop.test/1"`) {
		t.Errorf("status %d, %s%s", o.status, o.stdout, o.stderr)
	}
	junk := filepath.Join(dir, "junk.log")
	if err := os.WriteFile(junk, []byte(`::1 - - [30/Nov/2026:15:13:30 +0000] "GET /a HTTP/1.1" 200 5`+"\njunk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{path}, exitNotStarted, "expected -o FILE"},
		{[]string{"-o", filepath.Join(dir, "x.txt"), path}, exitNotStarted, "says no form"},
		{[]string{"-o", "x", "--as", "pcap", path}, exitNotStarted, "expected fbf, lz4, har, gor or jsonl"},
		{[]string{"-o", dir, "--as", "har", path}, exitNotStarted, "is a folder"},
		{[]string{"-o", "none/x.har", path}, exitNotStarted, "--output: none/x.har: no such file or directory"},
		{[]string{"-o", filepath.Join(dir, "none.har"), "--path", "/none", path}, exitIncomplete, "nothing was written"},
		{[]string{"-o", filepath.Join(dir, "log.har"), junk}, 0, "line 2 is left out"},
		{[]string{"-o", filepath.Join(dir, "log.har"), junk}, 0, "1 requests have no host"},
	} {
		if o := convert(t, tc.args...); o.status != tc.status || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("%v: status %d, %s", tc.args, o.status, o.stderr)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}
