// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/conversation"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func links(t *testing.T, args ...string) outcome {
	t.Helper()
	l := new(linking)
	return execute(t, t.Context(), nil, l, args)
}

// visits is a recording in which users make an order each and look at it.
func visits(t *testing.T, users int) string {
	t.Helper()
	var all []*recording.Request
	add := func(method, uri string, user int, responseBody string) {
		n := len(all)
		all = append(all, &recording.Request{
			ID: fmt.Appendf(nil, "id-%d", n), Method: []byte(method), URI: []byte(uri), Headers: fmt.Appendf(nil, "Host: shop.test\r\nCookie: sid=s%d\r\n", user),
			TimeNS: origin + int64(n)*int64(time.Second), Response: &recording.Response{Status: 200, Body: []byte(responseBody)},
		})
	}
	for user := range users {
		number := 1000 + (user*7919)%9000
		add("POST", "/orders", user, fmt.Sprintf(`{"number": %d}`, number))
		add("GET", fmt.Sprintf("/orders/%d?t=%dx", number, user), user, "")
	}
	return writeRequests(t, "visits.fbf", all)
}

func TestLinks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "links.json")
	o := links(t, "-o", file, visits(t, 12))
	want := `12 sessions, named by cookie sid, in 24 records

CONSUMER               PRODUCER                     SESSIONS  SUPPORT  CHANCE  EXAMPLE
GET /orders/*  path 2  POST /orders  json $.number        12     100%      0%  1000
`
	if o.status != 0 || o.stderr != "" || !strings.HasPrefix(o.stdout, want) || !strings.Contains(o.stdout, "GET /orders/*  query t") {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := conversation.ParseFile(file, text)
	if err != nil || len(read.Links) != 1 || read.Links[0].Consumer.String() != "GET /orders/* path 2" {
		t.Errorf("the file is %+v, error %v", read, err)
	}
	if links(t, "-o", file, visits(t, 12)); err == nil {
		again, _ := os.ReadFile(file)
		if string(again) != string(text) {
			t.Errorf("the same recording has another file:\n%s\n%s", again, text)
		}
	}
}

func TestLinksOfOneSession(t *testing.T) {
	o := links(t, "--session", "cookie sid", visits(t, 1))
	if o.status != exitIncomplete || !strings.Contains(o.stdout, "fewer than 10 sessions have both:") || !strings.HasPrefix(o.stdout, "1 session, named by cookie sid, in 2 records\n") ||
		!strings.Contains(o.stdout, "path 2  POST /orders  json $.number") || !strings.Contains(o.stderr, "no links were found") {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}

func TestLinksThatThereAreNot(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("testdata", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, exitNotStarted, "nothing to look at: expected a recording"},
		{[]string{"http://localhost/"}, exitNotStarted, "nothing to look at: expected a recording"},
		{[]string{"--session", "uri", "x"}, exitNotStarted, "'uri' is not the key of a session: expected client_ip, bearer, header <field> or cookie <name>"},
		{[]string{write(t, "plain.fbf", 3, time.Second)}, exitIncomplete, "no record has a response"},
		{[]string{"--session", "bearer", visits(t, 20)}, exitIncomplete, "no record has a session; expected --session"},
		{[]string{"--path", "/none", visits(t, 20)}, exitIncomplete, "there are no records"},
		{[]string{"-o", "none/links.json", "none.fbf"}, exitNotStarted, "none.fbf"},
		{[]string{"-o", "none/links.json", visits(t, 20)}, exitNotStarted, "--output: none/links.json: no such file or directory"},
		{[]string{"-o", "testdata", visits(t, 20)}, exitNotStarted, "--output: 'testdata' is a folder"},
	} {
		if o := links(t, test.args...); o.status != test.status || !strings.Contains(o.stderr, test.stderr) {
			t.Errorf("%v: status %d, want %d\n%s%s", test.args, o.status, test.status, o.stdout, o.stderr)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
		t.Errorf("left behind are %v, error %v", left, err)
	}
}

// The file goes to standard output, and the tables out of its way.
func TestLinksToStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	o := links(t, "-o", "-", visits(t, 12))
	read, err := conversation.ParseFile("links", []byte(o.stdout))
	if o.status != 0 || err != nil || len(read.Links) != 1 || !strings.HasPrefix(o.stderr, "12 sessions, ") {
		t.Errorf("status %d, error %v\n%s%s", o.status, err, o.stdout, o.stderr)
	}
	if _, err := os.Stat("-"); err == nil {
		t.Error("there is a file of the name -")
	}
}

// A file that is a link is written, and the link stays.
func TestLinksBehindALink(t *testing.T) {
	dir := t.TempDir()
	file, name := filepath.Join(dir, "real.json"), filepath.Join(dir, "links.json")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, name)); err != nil {
		t.Fatal(err)
	}
	if o := links(t, "-o", name, visits(t, 12)); o.status != 0 {
		t.Fatalf("status %d\n%s", o.status, o.stderr)
	}
	if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
		t.Errorf("what is linked to has %q, error %v", text, err)
	}
}
