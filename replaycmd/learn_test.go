// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func learnWith(t *testing.T, args ...string) outcome {
	t.Helper()
	l := new(learning)
	return execute(t, t.Context(), strings.NewReader(""), l, args)
}

// TestLearnWithoutSimulator learns in a build that has none: it is not graded,
// and conditions are refused.
func TestLearnWithoutSimulator(t *testing.T) {
	body := strings.Repeat("a long page ", 50)
	name := writeRequests(t, "one.fbf", []*recording.Request{{
		Method: []byte("GET"), URI: []byte("/page"), TimeNS: origin,
		Response: &recording.Response{Status: 200, Headers: []byte("Content-Type: text/html\r\n"), Body: []byte(body), DurationNS: int64(time.Millisecond)},
	}})
	file := filepath.Join(t.TempDir(), "new", "Caddyfile")
	got := learnWith(t, "-o", file, "--name", "shop", name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(filepath.Dir(file), "__files", "get_page.txt")
	if kept, err := os.ReadFile(page); err != nil || string(kept) != body {
		t.Errorf("the body is kept as %q, error %v", kept, err)
	}
	if got.status != 0 || got.stderr != "not graded: this build has no simulator\n" ||
		!strings.Contains(string(text), "body_file "+filepath.ToSlash(page)) || !strings.Contains(string(text), "name shop_get_page") {
		t.Errorf("got %+v and\n%s", got, text)
	}
	t.Chdir(t.TempDir())
	if got := learnWith(t, "-o", "-", name); got.status != 0 || !strings.Contains(got.stdout, "name learned_get_page") {
		t.Errorf("to standard output: got %+v", got)
	}
	for want, args := range map[string][]string{
		"--output: /dev/null/f: not a directory":                        {"-o", "/dev/null/f", "none.fbf"},
		"--output: '.' is a folder":                                     {"-o", ".", "none.fbf"},
		"--fail: not graded: this build has no simulator":               {"--fail", "match>=0.9", name},
		"none of the 3 records has a response; a tee with record":       {write(t, "requests.fbf", 3, time.Second)},
		"nothing to learn from: expected a recording, a folder":         {},
		"learn cannot read standard input a second time: it is no file": {"-"},
		"'xml' is not a form: expected caddyfile, recipe or wiremock":   {"--as", "xml", name},
		"'a b' is not a name: expected letters":                         {"--name", "a b", name},
		"'0' is not a speed from 0.001x to 1000x":                       {"--speed", "0", name},
		"'match' is not a condition: expected one like match>=0.95":     {"--fail", "match", name},
		"there is no figure 'p99': expected match, mix or ks":           {"--fail", "p99<1", name},
	} {
		if got := learnWith(t, args...); got.status != exitNotStarted || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: got %+v, want %s", args, got, want)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left behind are %v, error %v", left, err)
	}
}
