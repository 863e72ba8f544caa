// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// zipped is a body as a server packs it.
var zipped = func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, "hello") //nolint:errcheck // memory
	w.Close()
	return b.Bytes()
}()

// respond responds in every form.
func respond(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-B", "2")
	w.Header().Set("X-A", "1")
	switch r.URL.Path {
	case "/chunks":
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprintf(w, "got %s", body)
		http.NewResponseController(w).Flush()
		io.WriteString(w, ".")
		w.Header().Set("X-Sum", "9")
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(zipped)
	case "/broken":
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "plain")
	}
}

// serveWay serves over TLS or without, with HTTP/2 and without.
func serveWay(t *testing.T, secure bool, handler http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetHTTP2(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.EnableHTTP2 = true
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.URL
}

func asked(id, method, target, body string) *recording.Request {
	return &recording.Request{
		ID: []byte(id), Method: []byte(method), URI: []byte(target), Body: []byte(body), TimeNS: origin,
		Headers: []byte("Host: shop.test\r\nX-Odd: a\r\nCookie: c\r\n"), Scheme: []byte("https"), Remote: []byte("192.0.2.1:5"),
		Response: &recording.Response{Status: 500, Body: []byte("of yesterday")},
	}
}

func TestAnswersAreRecorded(t *testing.T) {
	posted := asked("1", "POST", "/chunks", "hi")
	posted.Trailers = []byte("X-End: 1\r\n")
	path := writeRequests(t, "a.fbf", []*recording.Request{
		posted, asked("2", "HEAD", "/x", ""), asked("3", "GET", "/none", ""), asked("4", "GET", "/gzip", ""),
		asked("5", "GET", "/broken", ""), asked("6", "GET", "/", ""), asked("7", "G T", "/", "never sent"),
	})
	for name, tc := range map[string]struct {
		secure bool
		flags  []string
	}{
		"HTTP/1.1": {}, "TLS": {true, []string{"--insecure"}},
		"HTTP/2 with TLS": {true, []string{"--insecure", "--http2"}}, "HTTP/2 without TLS": {false, []string{"--http2"}},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now().UnixNano()
			dir := filepath.Join(t.TempDir(), "kept")
			url := serveWay(t, tc.secure, respond)
			args := slices.Concat(tc.flags, []string{"--max", "-c", "1", "--to", "o ld=" + url, "--to", "o_ld=" + url, "--header", "Authorization: secret", "--record", dir, path})
			if o := replay(t, args...); o.status != exitIncomplete || !strings.Contains(o.stderr, "2 of 7 requests have no answer") {
				t.Fatalf("status %d: %s", o.status, o.stderr)
			}
			for _, folder := range []string{"o_ld", "o_ld-2"} {
				var got []string
				for _, r := range read(t, filepath.Join(dir, folder)) {
					s := r.Response
					got = append(got, fmt.Sprintf("%s %s %s %q %q: %d %q of %d, %q, %s", r.ID, r.Method, r.URI, r.Body, r.Trailers,
						s.Status, s.Body, s.BodySize, s.Trailers, kindOf(s.Error)))
					if string(r.Headers) != string(posted.Headers) || string(r.Remote) != "192.0.2.1:5" || string(r.Scheme) != "https" {
						t.Errorf("%s: the request is %+v", r.ID, r)
					}
					if r.TimeNS < began || r.TimeNS > time.Now().UnixNano() || s.DurationNS < 0 || s.Status > 0 && s.DurationNS == 0 {
						t.Errorf("%s: at %d for %d ns", r.ID, r.TimeNS, s.DurationNS)
					}
					if fields := string(s.Headers); s.Status > 0 && (!strings.Contains("\r\n"+fields, "\r\nX-A: 1\r\nX-B: 2\r\n") || strings.HasSuffix(fields, "\r\n\r\n") || strings.Contains(fields, "HTTP/")) {
						t.Errorf("%s: the fields are %q", r.ID, fields)
					}
				}
				want := []string{
					`1 POST /chunks "hi" "X-End: 1\r\n": 200 "got hi." of 7, "X-Sum: 9\r\n", `,
					`2 HEAD /x "" "": 200 "" of 0, "", `,
					`3 GET /none "" "": 204 "" of 0, "", `,
					fmt.Sprintf(`4 GET /gzip "" "": 200 %q of %d, "", `, zipped, len(zipped)),
					`5 GET /broken "" "": 200 "half" of 4, "", after 4 bytes of the body: cut off`,
					`6 GET / "" "": 200 "plain" of 5, "", `,
					`7 G T / "never sent" "": 0 "" of 0, "", unsendable`,
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nwant\n%s", folder, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			again := serve(t, nil)
			if o := replay(t, "--to", again.url, "--max", "--id", "1,6", filepath.Join(dir, "o_ld")); o.status != 0 || len(again.got()) != 2 {
				t.Errorf("as input: status %d, %d requests: %s", o.status, len(again.got()), o.stderr)
			}
			if o := replay(t, args...); o.status != exitNotStarted || !strings.Contains(o.stderr, "has recordings already") {
				t.Errorf("a second time: status %d: %s", o.status, o.stderr)
			}
		})
	}
}

// kindOf returns what of an error doesn't depend on the protocol.
func kindOf(text []byte) string {
	what, cause, _ := strings.Cut(string(text), ": ")
	if strings.HasPrefix(what, "after") {
		kind, _, _ := strings.Cut(cause, ": ")
		return what + ": " + kind
	}
	return what
}

// One URL has no records, but each of its answers becomes one with an identifier
// of its own.
func TestAnswersToAURLAreRecorded(t *testing.T) {
	s := serve(t, respond)
	dir := t.TempDir()
	if o := replay(t, s.url, "-n", "20", "-c", "3", "--record", dir); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	ids := make(map[string]bool)
	for _, r := range read(t, filepath.Join(dir, folderOf(strings.TrimPrefix(s.url, "http://"), make(map[string]bool)))) {
		ids[string(r.ID)] = true
		if string(r.Response.Body) != "plain" || string(r.URI) != "/" {
			t.Errorf("got %s: %s", r.URI, r.Response.Body)
		}
	}
	if len(ids) != 20 {
		t.Errorf("%d identifiers for 20 requests", len(ids))
	}
}

// A recording whose writer was killed lacks only its end.
func TestAnUnfinishedRecordingIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	if o := replay(t, serve(t, respond).url, "-n", "5", "--record", dir); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.fbf.lz4"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, error %v", files, err)
	}
	if o := replay(t, "--test", files[0]); o.status != 0 || !strings.Contains(o.stdout, ": whole, 5 records") {
		t.Errorf("whole: status %d: %s", o.status, o.stdout)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[0], info.Size()-8); err != nil { // end mark and checksum
		t.Fatal(err)
	}
	if o := replay(t, "--test", files[0]); o.status != 0 || !strings.Contains(o.stdout, ": unfinished (it is being written, or its writer was killed), 5 records") {
		t.Errorf("unfinished: status %d: %s%s", o.status, o.stdout, o.stderr)
	}
}

func TestFoldersOfTargets(t *testing.T) {
	taken := make(map[string]bool)
	for _, tc := range [][2]string{
		{"10.0.0.7:80", "10.0.0.7_80"},
		{"[::1]:80", "___1__80"},
		{"unix//run/a.sock", "unix__run_a.sock"},
		{"größe", "gr____e"},
		{"..", "__"},
		{".", "_"},
		{"new", "new"},
		{"NEW", "NEW-2"},
		{"n w", "n_w"},
		{"n/w", "n_w-2"},
		{"n?w", "n_w-3"},
	} {
		if got := folderOf(tc[0], taken); got != tc[1] {
			t.Errorf("%s: got %s, want %s", tc[0], got, tc[1])
		}
	}
}

// What is not recorded is said, and fails the run.
func TestLostAnswersAreSaid(t *testing.T) {
	s := serve(t, respond)
	dir := t.TempDir()
	begun := make(chan struct{})
	s2 := serve(t, func(http.ResponseWriter, *http.Request) {
		select {
		case <-begun:
		default: // a file takes the folder's place before anything is recorded
			os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) //nolint:errcheck // the test fails without
			close(begun)
		}
	})
	o := replay(t, "--to", "old="+s.url, "--to", "new="+s2.url, "--max", "-c", "1", "--record", dir, write(t, "a.fbf", 3, 0))
	if o.status != exitIncomplete || !strings.Contains(o.stderr, "Warning: new: 3 of 3 responses are not recorded: ") ||
		!strings.Contains(o.stderr, "Error: not all that was answered is recorded\n") || strings.Contains(o.stderr, "old:") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
	if n := len(read(t, filepath.Join(dir, "old"))); n != 3 {
		t.Errorf("%d are recorded of the other target", n)
	}
}

func TestRecordIsRefused(t *testing.T) {
	path := write(t, "a.fbf", 1, 0)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--record", t.TempDir(), "--dry-run"}, "with --dry-run nothing is sent"},
		{[]string{"--record", t.TempDir(), "--test"}, "with --test nothing is sent"},
		{[]string{"--record", filepath.Join(path, "x"), "--to", "localhost:1"}, "--record: "},
		{[]string{"--record", "", "--to", "localhost:1"}, "expected a text"},
	} {
		if o := replay(t, append(tc.args, path)...); o.status != exitNotStarted || !strings.Contains(o.stderr, tc.want) {
			t.Errorf("%v: status %d: %s", tc.args, o.status, o.stderr)
		}
	}
}
