// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	zipped := string(compress([]byte("zipped")))
	for _, tc := range []struct {
		name, content, headers string
		inMemory               bool
		want, media            string
	}{
		{"small", "<<5b>> as it is", "", true, "<<5b>> as it is", "text/html; charset=utf-8"},
		{"json", "{}", "", true, "{}", "application/json; charset=utf-8"},
		{"empty", "", "", true, "", ""},
		{"large", strings.Repeat("x", keptFile+1), "", false, "", "text/html; charset=utf-8"},
		{"gzipped", zipped, "gzip", true, "zipped", "text/html; charset=utf-8"},
		{"to be gzipped", "plain", "gzip", true, "plain", "text/html; charset=utf-8"},
		{"large, to be gzipped", strings.Repeat("x", keptFile+1), "gzip", true, strings.Repeat("x", keptFile+1), "text/html; charset=utf-8"},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		headers := ""
		if tc.headers != "" {
			headers = `"headers":{"content-encoding":"gzip"},`
		}
		a := ask(t, play(t, `{"body_file":`+strconv.Quote(file)+`,`+headers+`"stages":[{}]}`), "/")
		if (a.Content.File == "") != tc.inMemory || field(a, "Content-Type") != tc.media {
			t.Errorf("%s: file %q, type %q", tc.name, a.Content.File, field(a, "Content-Type"))
		}
		if !tc.inMemory {
			if a.Length != strconv.Itoa(len(tc.content)) {
				t.Errorf("%s: length %s", tc.name, a.Length)
			}
			continue
		}
		got := bodyOf(a)
		if tc.headers != "" {
			got = unzip(t, a)
		}
		if got != tc.want {
			t.Errorf("%s: got %.50q", tc.name, got)
		}
	}
}

func TestFilesThatCannotBeServed(t *testing.T) {
	for _, name := range []string{"/no/such/file", t.TempDir()} {
		list := parse(t, `{"stages":[{},{"at":1,"outcomes":[{"percent":5},{"body_file":`+strconv.Quote(name)+`}]}]}`)
		if _, err := New(t.Name(), list, Defaults{}); err == nil || !strings.HasPrefix(err.Error(), "stages[1].outcomes[1].body_file: ") {
			t.Errorf("%s: got error %v", name, err)
		}
		list = parse(t, `[{"stages":[{}]},{"route":"/a","body_file":`+strconv.Quote(name)+`,"stages":[{}]}]`)
		if _, err := New(t.Name(), list, Defaults{}); err == nil || !strings.HasPrefix(err.Error(), "recipes[1].body_file: ") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
