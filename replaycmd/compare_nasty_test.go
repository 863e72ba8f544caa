// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// bomb unpacks to 64 MiB.
var bomb = func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.Copy(w, io.LimitReader(zeros{}, 64<<20)) //nolint:errcheck // memory
	w.Close()
	return b.Bytes()
}()

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestNastyResponsesAreBounded compares a well-behaved system with one that sends
// what is hard on whoever compares.
func TestNastyResponsesAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000)
	var keys strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&keys, `,"k%d":1`, i)
	}
	wide := "{" + keys.String()[1:] + "}"
	cases := map[string]func(w http.ResponseWriter){
		"/bomb":    func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "gzip"); w.Write(bomb) },
		"/deep":    body(deep),
		"/wide":    body(wide),
		"/utf8":    body("{\"a\":\"\xff\xfe\"}"),
		"/endless": func(w http.ResponseWriter) { io.Copy(w, zeros{}) }, //nolint:errcheck // it ends with the client
		"/none":    func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"/html":    body("<html><body>sorry</body></html>"),
		"/reset":   func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"/halves": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half") //nolint:errcheck // it breaks off
			panic(http.ErrAbortHandler)
		},
	}
	sane := make(map[string]func(http.ResponseWriter))
	var paths []string
	for path := range cases {
		sane[path] = body(`{"a":"b"}`)
		paths = append(paths, path)
	}
	old, fresh := answers(t, sane), answers(t, cases)
	o, r := compared(t, exitIncomplete, "--max", "--timeout", "2s", "--to", "old="+old.url, "--to", "new="+fresh.url, "--compare", requestsTo(t, paths...))
	if c := r.Comparisons[0]; c.Pairs != int64(len(cases)) || c.Partial["panic"] != 0 {
		t.Errorf("got %+v\n%s", c, o.stdout)
	}
	got := make(map[string]string)
	for _, d := range r.Differences {
		got[strings.TrimPrefix(d.Endpoint, "GET ")] += d.Field + " " + string(d.Kind) + ";"
	}
	for path, want := range map[string]string{
		"/bomb": "body changed", "/deep": "body changed", "/wide": "body changed", "/endless": "error added",
		"/none": "body missing", "/html": "body type", "/reset": "error added", "/halves": "error added", "/utf8": "",
	} {
		if !strings.Contains(got[path], want) || got[path] == "" {
			t.Errorf("%s: got %q, want %q", path, got[path], want)
		}
	}
}
