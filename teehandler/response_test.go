// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// witness is a consumer that keeps what it is shown and wants so much of the
// body.
type witness struct {
	limit  int
	status int
	header http.Header
	seen   bytes.Buffer
	ended  []responseEnd
}

func (c *witness) head(status int, header http.Header) { c.status, c.header = status, header.Clone() }

func (c *witness) body(part []byte) bool {
	c.seen.Write(part)
	return c.seen.Len() < c.limit
}

func (c *witness) end(end *responseEnd) { c.ended = append(c.ended, *end) }

// witnessed serves a request with a primary that two consumers watch.
func witnessed(t *testing.T, method string, primary func(w http.ResponseWriter) error) (few, all *witness) {
	t.Helper()
	few, all = &witness{limit: 4}, &witness{limit: 1 << 30}
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched := watchResponse(w, r, few, all)
		err := errAborted
		defer func() {
			watched.end(err)
			close(done)
		}()
		err = primary(watched)
	}))
	server.Config.ErrorLog = quiet()
	defer server.Close()
	req, err := http.NewRequest(method, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	next(t, done)
	return few, all
}

// TestConsumersSeeTheResponse has primaries respond in all the ways there are.
func TestConsumersSeeTheResponse(t *testing.T) {
	broken := errors.New("no good")
	write := func(text string) func(w http.ResponseWriter) error {
		return func(w http.ResponseWriter) error {
			_, _ = io.WriteString(w, text)
			return nil
		}
	}
	for name, c := range map[string]struct {
		method  string
		primary func(w http.ResponseWriter) error
		status  int // of the end
		body    string
		err     error
	}{
		"plain":         {primary: write("hello world"), status: 200, body: "hello world"},
		"HEAD":          {method: "HEAD", primary: write("hello"), status: 200},
		"nothing":       {primary: func(http.ResponseWriter) error { return nil }, status: 200},
		"error routes":  {primary: func(http.ResponseWriter) error { return broken }, status: 500, err: broken},
		"coded error":   {primary: func(http.ResponseWriter) error { return caddyhttp.HandlerError{StatusCode: 404} }, status: 404, err: caddyhttp.HandlerError{StatusCode: 404}},
		"abort at once": {primary: func(http.ResponseWriter) error { panic(http.ErrAbortHandler) }, err: errAborted},
		"no body": {primary: func(w http.ResponseWriter) error {
			w.WriteHeader(http.StatusNotModified)
			_, _ = w.Write([]byte("not allowed"))
			return nil
		}, status: 304},
		"early hints": {primary: func(w http.ResponseWriter) error {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
			return write("short and stout")(w)
		}, status: 418, body: "short and stout"},
		"abort in the body": {primary: func(w http.ResponseWriter) error {
			_ = write("hello")(w)
			panic(http.ErrAbortHandler)
		}, status: 200, body: "hello", err: errAborted},
		"too short": {primary: func(w http.ResponseWriter) error {
			w.Header().Set("Content-Length", "100")
			return write("hello")(w)
		}, status: 200, body: "hello", err: io.ErrUnexpectedEOF},
		"hijacked": {primary: func(w http.ResponseWriter) error {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				conn.Close()
			}
			return err
		}, err: errHijacked},
		"flush": {primary: func(w http.ResponseWriter) error {
			w.(http.Flusher).Flush()
			return errors.Join(http.NewResponseController(w).Flush(), write("later")(w))
		}, status: 200, body: "later"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.method == "" {
				c.method = "GET"
			}
			few, all := witnessed(t, c.method, c.primary)
			if len(few.ended) != 1 || len(all.ended) != 1 {
				t.Fatalf("ended %d and %d times", len(few.ended), len(all.ended))
			}
			end := all.ended[0]
			if end.status != c.status || end.size != int64(len(c.body)) || !reflect.DeepEqual(end.err, c.err) {
				t.Errorf("ended with %d, %d bytes, error %v", end.status, end.size, end.err)
			}
			if all.seen.String() != c.body || !strings.HasPrefix(c.body, few.seen.String()) || len(few.seen.String()) < min(4, len(c.body)) {
				t.Errorf("saw %q and %q of %q", &all.seen, &few.seen, c.body)
			}
		})
	}
}

// handOver is a server's writer that notes which reader it is given.
type handOver struct {
	*httptest.ResponseRecorder
	got io.Reader
}

func (w *handOver) ReadFrom(r io.Reader) (int64, error) {
	w.got = r
	return io.Copy(w.ResponseRecorder, r)
}

// TestFilesAreSentByTheSystem has a file read only as far as consumers want it:
// the rest goes to the server's ReadFrom, which has the system send it.
func TestFilesAreSentByTheSystem(t *testing.T) {
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(bytesOf(size)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, consumers := range [][]consumer{nil, {&witness{limit: 100}}} {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		w := &handOver{ResponseRecorder: httptest.NewRecorder()}
		watched := watchResponse(w, httptest.NewRequest("GET", "/", nil), consumers...)
		n, err := io.Copy(watched, file)
		watched.end(nil)
		if err != nil || n != size || w.Body.Len() != size || watched.size != size {
			t.Errorf("sent %d bytes, counted %d, error %v", n, watched.size, err)
		}
		if w.got == nil {
			t.Error("nothing was left to the server's ReadFrom")
		}
		for _, c := range consumers {
			if seen := c.(*witness).seen.Len(); seen == 0 || seen > 32<<10 {
				t.Errorf("read %d bytes for a consumer", seen)
			}
		}
	}
}
