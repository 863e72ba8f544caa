// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// touch makes an empty file.
func touch(t *testing.T, folder, name string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.fbf", "a.fbf.lz4", "c.lz4", "notes.txt", ".hidden.fbf", "open.fbf.lz4.tmp"} {
		touch(t, dir, name)
	}
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub.fbf"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ args, want []string }{
		{[]string{dir}, []string{"a.fbf.lz4", "b.fbf", "c.lz4"}},
		{[]string{filepath.Join(dir, "*.fbf")}, []string{"b.fbf"}},
		{[]string{filepath.Join(dir, "notes.txt"), dir}, []string{"notes.txt", "a.fbf.lz4", "b.fbf", "c.lz4"}},
		{[]string{filepath.Join(dir, "b.fbf"), filepath.Join(dir, "b.fbf")}, []string{"b.fbf"}},
		{[]string{"-"}, []string{"-"}},
	} {
		got, err := expand(tc.args, func(error) {})
		for i := range got {
			got[i] = filepath.Base(got[i])
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%v: got %v, error %v; want %v", tc.args, got, err, tc.want)
		}
	}
	for _, arg := range []string{filepath.Join(dir, "missing"), empty, filepath.Join(dir, "["), filepath.Join(dir, "*.none")} {
		if got, err := expand([]string{arg}, func(err error) { t.Errorf("noted %v", err) }); err == nil {
			t.Errorf("%s: got %v", arg, got)
		}
	}
}

// What a server is still writing is not sent by chance, but can be asked for.
func TestExpandUnfinishedRecordings(t *testing.T) {
	both, open := t.TempDir(), t.TempDir()
	touch(t, both, "a.fbf")
	touch(t, both, "b.fbf.lz4.tmp")
	unfinished := touch(t, open, "c.fbf.tmp")
	touch(t, open, "d.txt.tmp")
	for _, tc := range []struct {
		arg, want, note string
	}{
		{both, "a.fbf", "left out, as they are not finished: " + filepath.Join(both, "b.fbf.lz4.tmp")},
		{unfinished, "c.fbf.tmp", unfinished + " is not finished: only what is there now is read"},
		{filepath.Join(open, "c*"), "c.fbf.tmp", unfinished + " is not finished: only what is there now is read"},
	} {
		var noted []string
		got, err := expand([]string{tc.arg}, func(err error) { noted = append(noted, err.Error()) })
		if err != nil || len(got) != 1 || filepath.Base(got[0]) != tc.want || !slices.Equal(noted, []string{tc.note}) {
			t.Errorf("%s: got %v, error %v, noted %q", tc.arg, got, err, noted)
		}
	}
	if got, err := expand([]string{open}, func(err error) { t.Errorf("noted %v", err) }); err == nil || !strings.Contains(err.Error(), "name '"+unfinished+"'") {
		t.Errorf("got %v, error %v", got, err)
	}
}
