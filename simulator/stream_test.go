// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPacedBodies holds how long a body takes at least, and that it is whole:
// plain, gzipped and from a file.
func TestPacedBodies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 5<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, "simulator {",
		"route /bandwidth {\n random_content 50kb\n stage 0 200 {\n bandwidth 100kb/s\n }\n }",
		"route /gzip {\n random_content 60kb\n header Content-Encoding gzip\n stage 0 200 50ms {\n bandwidth 100kb/s\n }\n }",
		"route /dribble {\n body hello\n stage 0 503 {\n dribble 5 500ms\n }\n }",
		"route /file {\n body_file "+file+"\n stage 0 200 {\n bandwidth 10mb/s\n }\n }",
		"route /quick {\n random_content 3mb\n stage 0 200 {\n bandwidth 1gb/s\n }\n }",
		"}")
	for _, tc := range []struct {
		path   string
		status int
		size   int
		least  time.Duration
	}{
		{"/bandwidth", 200, 50 << 10, 499 * time.Millisecond},
		{"/gzip", 200, 60 << 10, 449 * time.Millisecond},
		{"/dribble", 503, 9, 499 * time.Millisecond},
		{"/file", 200, 5 << 20, 499 * time.Millisecond},
		{"/quick", 200, 3 << 20, 0},
	} {
		begun := time.Now()
		resp := do(t, http.DefaultClient, "GET", url+tc.path, nil)
		status, body := read(t, resp)
		if took := time.Since(begun); status != tc.status || len(body) != tc.size || took < tc.least {
			t.Errorf("%s: got %d, %d bytes after %v", tc.path, status, len(body), took)
		}
		if head := do(t, http.DefaultClient, "HEAD", url+tc.path, nil); head.ContentLength < 9 || tc.path != "/gzip" && head.ContentLength != int64(tc.size) {
			t.Errorf("HEAD %s: length %d", tc.path, head.ContentLength)
		}
	}
}

// TestPaceComesPieceByPiece reads the header before the body begins, and the
// pieces one by one.
func TestPaceComesPieceByPiece(t *testing.T) {
	_, url := serve(t, "simulator {\n body abc\n stage 0 200 {\n dribble 3 600ms\n }\n}")
	conn := dial(t, url)
	begun := time.Now()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range 3 {
		var piece [1]byte
		if _, err := io.ReadFull(resp.Body, piece[:]); err != nil || piece[0] != "abc"[i] {
			t.Fatalf("piece %d: got %q, %v", i, piece, err)
		}
		if took, due := time.Since(begun), time.Duration(i+1)*200*time.Millisecond; took < due {
			t.Errorf("piece %d came after %v, before it was due", i, took)
		}
	}
}
