// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// odd has what is hard to show.
func odd(t *testing.T) string {
	t.Helper()
	return writeRequests(t, "odd.fbf", []*recording.Request{
		{ID: []byte("one"), Method: []byte("POST"), URI: []byte("/\x1b[31m"), Headers: []byte("Host: a\r\nX: Caf\xe9\x07\r\n"), Body: []byte("\x00\xff\x1b"), BodySize: 99, Trailers: []byte("X-Sum: \x1b\r\n"), TimeNS: origin},
		{ID: []byte("../../two/\xff"), Method: []byte("GET"), URI: []byte("/größe"), TimeNS: origin + 5e6},
		{Method: []byte("GET"), URI: []byte("/three")},
	})
}

func TestShowLists(t *testing.T) {
	o := show(t, odd(t))
	got := spaced(o.stdout)
	for _, want := range []string{
		"TIME ID METHOD HEADERS BODY TARGET\n",
		`2027-01-15T08:00:00.000Z one POST 19 3+ /\x1b[31m` + "\n",
		`2027-01-15T08:00:00.005Z ../../two/\xff GET 0 0 /größe` + "\n",
		"- n3 GET 0 0 /three\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if o.status != 0 || strings.ContainsAny(o.stdout, "\x1b\x07") || strings.Contains(o.stdout, "\xff") {
		t.Errorf("status %d, printed %q", o.status, o.stdout)
	}
}

func TestAListingFitsItsTerminal(t *testing.T) {
	r := &recording.Request{
		ID: []byte("550e8400-e29b-41d4-a716-446655440000"), Method: []byte("GET"), URI: []byte("/a/long/path/with/größe/" + strings.Repeat("x", 100)),
		Headers: []byte("Host: a\r\n"), TimeNS: origin,
	}
	for width, want := range map[int]string{
		80:  "08:00:00.000 550e8400-e29b-41d4-a716-446655440000 GET           0  /a/long/path…\n",
		130: "2027-01-15T08:00:00.000Z  550e8400-e29b-41d4-a716-446655440000  GET            9         0   /a/long/path/with/größe/xxxxxxxxxxxx…\n",
		20:  "08:00:00.000 550e84…\n",
	} {
		var out strings.Builder
		l := &listing{w: &out, width: width, headed: true}
		if err := l.record(r); err != nil || out.String() != want {
			t.Errorf("%d columns: got %q, error %v", width, out.String(), err)
		}
	}
}

func TestShowOneWhole(t *testing.T) {
	path := odd(t)
	o := show(t, "-i", "one", path)
	if want := "POST /\x1b[31m HTTP/1.1\r\nHost: a\r\nX: Caf\xe9\x07\r\n\r\n\x00\xff\x1b\r\nX-Sum: \x1b\r\n"; o.status != 0 || o.stdout != want {
		t.Errorf("status %d, got %q, want %q", o.status, o.stdout, want)
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	for body, want := range map[string]string{"a text\n": "a text", "\x1b[31m": "(5 bytes that are not text"} {
		out.Reset()
		r := &recording.Request{
			Method: []byte("GET\x1b"), URI: []byte("/\x1b"), Proto: []byte("HTTP/\x1b"), Headers: []byte("X: \x1b\r\n"), Body: []byte(body), Trailers: []byte("X-Sum: \x1b\r\n"),
		}
		s := requestSide(r)
		if err := s.print(w); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		if !strings.Contains(out.String(), want) || !strings.HasSuffix(out.String(), `X-Sum: \x1b`+"\n") || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: got %q", body, out.String())
		}
	}
	for _, args := range [][]string{{}, {"http://localhost/"}, {filepath.Join(t.TempDir(), "missing")}} {
		if o := show(t, args...); o.status != exitNotStarted {
			t.Errorf("%v: status %d", args, o.status)
		}
	}
	for _, args := range [][]string{{"-i", "none"}, {"-i", "one,none"}} {
		if o := show(t, append(args, path)...); o.status != exitIncomplete || !strings.Contains(o.stderr, "no record has the identifier none\n") {
			t.Errorf("%v: status %d: %s", args, o.status, o.stderr)
		}
	}
	if o := show(t, "-i", "one", "--method", "GET", path); o.status != 0 || o.stdout != "" {
		t.Errorf("one that is there: status %d: %s", o.status, o.stderr)
	}
}

func TestExtract(t *testing.T) {
	path := write(t, "a.fbf", 3, time.Millisecond)
	for _, flags := range [][]string{{"--extract"}, {"-f", "-o"}} {
		dir := filepath.Join(t.TempDir(), "new")
		if o := replay(t, append(flags, dir, path)...); o.status != 0 {
			t.Fatalf("status %d: %s", o.status, o.stderr)
		}
		file, err := os.Open(filepath.Join(dir, "000002_id-1.http"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r, err := http.ReadRequest(bufio.NewReader(file))
		if err != nil || r.RequestURI != "/1" || r.Host != "shop.test" {
			t.Errorf("got %+v, error %v", r, err)
		}
	}
}

func TestExtractedNamesStayInTheirFolder(t *testing.T) {
	dir := t.TempDir()
	path := writeRequests(t, "a.fbf", []*recording.Request{{ID: []byte("../../escape\x00"), Method: []byte("GET"), URI: []byte("/")}})
	if o := replay(t, "--extract", dir, path); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) != 1 || filepath.Base(files[0]) != "000001_______escape_.http" {
		t.Errorf("got %v, error %v", files, err)
	}
}

func TestExtractLeavesOutWhatIsNoRequest(t *testing.T) {
	dir := t.TempDir()
	path := writeRequests(t, "a.fbf", []*recording.Request{
		{ID: []byte("a"), Method: []byte("GET"), URI: []byte("/")},
		{ID: []byte("b"), Method: []byte("GET"), URI: []byte("/a b")},
		{ID: []byte("c"), Method: []byte("GET"), URI: []byte("/")},
	})
	o := replay(t, "--extract", dir, path)
	if o.status != exitIncomplete || !strings.Contains(o.stderr, "record 2 is left out") || !strings.Contains(o.stderr, "1 of 3 records are not valid requests") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 || filepath.Base(files[1]) != "000003_c.http" {
		t.Errorf("got %v, error %v", files, err)
	}
}

func TestDryRun(t *testing.T) {
	path := write(t, "a.fbf", 100, 10*time.Millisecond)
	for _, tc := range []struct {
		flags []string
		want  []string
	}{
		{nil, []string{"pace 1x, up to 50", "requests 100 to each target\n100 GET", "takes 990ms and"}},
		{[]string{"--speed", "2x", "--to", "a=localhost:1"}, []string{"to http://localhost:1", "takes 495ms and"}},
		{[]string{"--rate", "10/s", "-n", "11"}, []string{"requests 11 to", "takes 1s and"}},
		{[]string{"--duration", "100ms"}, []string{"requests 10 to", "takes 90ms and"}},
		{[]string{"--max"}, []string{"takes as long as the responses take"}},
		{[]string{"--loop"}, []string{"takes 990ms, and then all over again"}},
		{[]string{"--path", "/1?"}, []string{"requests 10 to"}},
	} {
		o := replay(t, append(append([]string{"--dry-run"}, tc.flags...), path)...)
		for _, want := range tc.want {
			if o.status != 0 || !strings.Contains(spaced(o.stdout), want) {
				t.Errorf("%v: status %d, %q is missing in\n%s%s", tc.flags, o.status, want, o.stdout, o.stderr)
			}
		}
	}
	if o := replay(t, "--dry-run", "http://localhost/", "--duration", "5s"); !strings.Contains(spaced(o.stdout), "takes 5s, with as many") {
		t.Errorf("got %s", o.stdout)
	}
}
