// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// answered is a recording of responses of every kind, and of none.
func answered(t *testing.T) string {
	t.Helper()
	return writeRequests(t, "answered.fbf", []*recording.Request{
		{
			ID: []byte("one"), Method: []byte("POST"), URI: []byte("/a"), Proto: []byte("HTTP/2.0"), Headers: []byte("Host: a\r\n"), Body: []byte("q"), TimeNS: origin,
			Response: &recording.Response{
				Status: 201, Headers: []byte("X: \x1b\r\nContent-Encoding: gzip\r\n"), Body: zipped, BodySize: 99, Trailers: []byte("X-Sum: 9\r\n"), DurationNS: 1_234_567,
				Error: []byte("after 99 bytes of the body: cut off"),
			},
		},
		{ID: []byte("two"), Method: []byte("GET"), URI: []byte("/b"), TimeNS: origin + 1e6, Response: &recording.Response{Error: []byte("refused: it is")}},
		{ID: []byte("three"), Method: []byte("GET"), URI: []byte("/c"), TimeNS: origin + 2e6},
		{ID: []byte("four"), Method: []byte("GET"), URI: []byte("/d"), TimeNS: origin + 3e6, Response: &recording.Response{Status: 200, Headers: []byte("Content-Length: 2\r\n"), Body: []byte("ok")}},
	})
}

func TestShowListsResponses(t *testing.T) {
	path := answered(t)
	o := show(t, path)
	got := spaced(o.stdout)
	for _, want := range []string{
		"TIME ID METHOD HEADERS BODY STATUS RESPONSE DURATION TARGET\n",
		"Z one POST 9 1 201! 29+ 1.23 ms /a\n",
		"Z two GET 0 0 -! 0 - /b\n",
		"Z three GET 0 0 - - - /c\n",
		"Z four GET 0 0 200 2 - /d\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if o.status != 0 || strings.Count(got, "TIME") != 1 {
		t.Errorf("status %d:\n%s", o.status, got)
	}
	if o := show(t, path, "--path", "/c"); strings.Contains(o.stdout, "STATUS") {
		t.Errorf("without responses:\n%s", o.stdout)
	}
}

func TestShowAPart(t *testing.T) {
	path := answered(t)
	request := "POST /a HTTP/2.0\r\nHost: a\r\n\r\nq"
	response := "HTTP/2.0 201 Created\r\nX: \x1b\r\nContent-Encoding: gzip\r\n\r\n" + string(zipped) + "\r\nX-Sum: 9\r\n"
	for _, tc := range []struct {
		args   string
		status int
		want   string
	}{
		{"-i one", 0, request},
		{"-i one --part request", 0, request},
		{"-i one --part response", 0, response},
		{"-i one --part both", 0, request + "\r\n" + response},
		{"-i one --part request --body", 0, "q"},
		{"-i one --part response --body", 0, string(zipped)},
		{"-i three --part both", 0, "GET /c HTTP/1.1\r\n\r\n"},
		{"-i three --part response", exitIncomplete, "record three has no response\n"},
		{"-i two --part response", exitIncomplete, "record two has no response: refused: it is\n"},
		{"-i one --body", exitNotStarted, "--body is of one part"},
		{"-i one --body --part both", exitNotStarted, "--body is of one part"},
		{"--part response", exitNotStarted, "expected --id"},
		{"-i one --part reply", exitNotStarted, "'reply' is not valid: expected request, response or both"},
	} {
		o := show(t, append(strings.Fields(tc.args), path)...)
		if o.status != tc.status || o.status == 0 && o.stdout != tc.want || o.status != 0 && !strings.Contains(o.stderr, tc.want) {
			t.Errorf("%s: status %d, got %q, %s", tc.args, o.status, o.stdout, o.stderr)
		}
	}
}

func TestATerminalGetsBothParts(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	v := &viewing{}
	for _, r := range read(t, answered(t))[:2] {
		if err := v.whole(w, true)(r); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	got := strings.ReplaceAll(out.String(), "\r\n", "\n")
	for _, want := range []string{
		"POST /a HTTP/2.0\nHost: a\n\nq\n\nHTTP/2.0 201 Created\nX: \\x1b\nContent-Encoding: gzip\n\n(29 bytes that are not text",
		"X-Sum: 9\n(not whole: after 99 bytes of the body: cut off)\n",
		"(no response)\n\n(not whole: refused: it is)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("printed %q", got)
	}
}

func TestExtractHasResponses(t *testing.T) {
	dir := t.TempDir()
	if o := replay(t, "--extract", dir, answered(t)); o.status != 0 {
		t.Fatalf("status %d: %s", o.status, o.stderr)
	}
	file, err := os.Open(filepath.Join(dir, "000004_four.response.http"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	resp, err := http.ReadResponse(bufio.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || string(body) != "ok" {
		t.Errorf("got %d, %q, error %v", resp.StatusCode, body, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 6 { // four requests, and two responses that came
		t.Errorf("%v, error %v", files, err)
	}
}
