// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
)

// answering is a handler of responses of every form.
func answering(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/trailers":
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Add("X-Two", "b")
		w.Header().Add("X-Two", "a")
		w.Write([]byte("in "))
		http.NewResponseController(w).Flush()
		w.Write([]byte("chunks"))
		w.Header().Set("X-Sum", "9")
	case "/large":
		w.Write([]byte(strings.Repeat("0123456789", 10_000)))
	case "/none":
		w.WriteHeader(http.StatusNoContent)
	case "/same":
		w.Header().Set("Etag", `"1"`)
		w.WriteHeader(http.StatusNotModified)
	case "/moved":
		http.Redirect(w, r, "/plain", http.StatusFound)
	case "/broken":
		w.Header().Set("Content-Length", "10")
		w.Write([]byte("half"))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		w.Write([]byte("plain"))
	}
}

func TestResponsesAreCaptured(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			options := w.options
			options.Redirects = 1
			client := newClient(t, w.serve(t, http.HandlerFunc(answering)), options)
			client.Capture = &http1.Capture{MaxBody: 25}
			for _, tc := range []struct {
				method, path       string
				status, head, body string
				trailers           string
				size               int64
				kind               http1.Kind
			}{
				{"GET", "/trailers", " 200 OK\r\n", "X-Two: b\r\nX-Two: a\r\n", "in chunks", "X-Sum: 9\r\n", 9, http1.Kinds},
				{"GET", "/large", " 200 OK\r\n", "Content-Type: text/plain", "0123456789012345678901234", "", 100_000, http1.Kinds},
				{"HEAD", "/large", " 200 OK\r\n", "Content-Type: text/plain", "", "", 0, http1.Kinds},
				{"GET", "/none", " 204 No Content\r\n", "\r\nDate: ", "", "", 0, http1.Kinds},
				{"GET", "/same", " 304 Not Modified\r\n", "Etag: \"1\"\r\n", "", "", 0, http1.Kinds},
				{"GET", "/moved", " 200 OK\r\n", "Content-Length: 5\r\n", "plain", "", 5, http1.Kinds},
				{"GET", "/broken", " 200 OK\r\n", "Content-Length: 10\r\n", "half", "", 4, http1.CutOff},
				{"GET", "/", " 200 OK\r\n", "Content-Length: 5\r\n", "plain", "", 5, http1.Kinds},
			} {
				resp, err := client.Send(message(t, record(tc.method, tc.path, "", "Host: a")), time.Now())
				if (err != nil) != (tc.kind != http1.Kinds) || err != nil && http1.KindOf(err) != tc.kind {
					t.Errorf("%s %s: error %v", tc.method, tc.path, err)
				}
				c := client.Capture
				head := string(c.Head)
				line, fields, _ := strings.Cut(head, "\r\n")
				if !strings.HasPrefix(line, "HTTP/") || line[len("HTTP/1.1"):]+"\r\n" != tc.status ||
					!strings.Contains("\r\n"+fields, tc.head) || !strings.HasSuffix(head, "\r\n\r\n") {
					t.Errorf("%s %s: head %q, want one with %q", tc.method, tc.path, head, tc.head)
				}
				if string(c.Body) != tc.body || string(c.Trailers) != tc.trailers || resp.BodySize != tc.size {
					t.Errorf("%s %s: body %q of %d bytes, trailers %q", tc.method, tc.path, c.Body, resp.BodySize, c.Trailers)
				}
			}
		})
	}
}

// What came for a request before is not taken for a response to one that has none.
func TestACaptureIsEmptyWithoutAResponse(t *testing.T) {
	for _, w := range ways {
		target := w.serve(t, http.HandlerFunc(answering))
		client := newClient(t, target, w.options)
		client.Capture = &http1.Capture{MaxBody: 100}
		mustSend(t, client, record("GET", "/trailers", "", "Host: a"))
		client.Close()
		client.dialer.target.Address += "1" // of nobody
		client.dialer.http1.Address += "1"
		_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
		if c := client.Capture; err == nil || len(c.Head)+len(c.Body)+len(c.Trailers) > 0 {
			t.Errorf("%s: error %v, head %q, body %q", w.name, err, c.Head, c.Body)
		}
	}
}
