// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// recordingInto runs Caddy with a tee that only records, in front of directives,
// and a page of metrics.
func recordingInto(t *testing.T, options, primary string) (addr, dir string, metrics func() string) {
	t.Helper()
	addr, dir, monitor := caddytest.Addr(t), t.TempDir(), caddytest.Addr(t)
	caddytest.Run(t, site(addr, teeRecording(t, dir, options, primary))+site(monitor, "metrics"))
	return addr, dir, func() string {
		_, text := get(t, oneShot, "http://"+monitor)
		return text
	}
}

// counted waits until a metric of the test's tee has a value. Its labels end with more.
func counted(t *testing.T, metrics func() string, name, more string, want int) {
	t.Helper()
	line := fmt.Sprintf("%s{handler=%q,name=%q%s} %d\n", name, "tee", teeName(t), more, want)
	eventually(t, line, func() (string, bool) {
		text := metrics()
		var have []string
		for l := range strings.Lines(text) {
			if strings.HasPrefix(l, name) && strings.Contains(l, teeName(t)) {
				have = append(have, l)
			}
		}
		return strings.Join(have, ""), strings.Contains(text, line)
	})
}

// sendGzip responds with a body that only those see who unpack it.
func sendGzip(w http.ResponseWriter, text string) []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, text)
	z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(packed.Bytes())
	return packed.Bytes()
}

// TestResponsesAreRecordedAsSent has a primary behind reverse_proxy respond in
// the ways that matter: HEAD, 304, 204, redirects, gzip, early hints, nothing,
// large bodies. The client gets what it would without a tee.
func TestResponsesAreRecordedAsSent(t *testing.T) {
	var packed []byte
	large := bytesOf(300 << 10)
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/304":
			w.Header().Set("Etag", `"x"`)
			w.WriteHeader(http.StatusNotModified)
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/302":
			http.Redirect(w, r, "/login?token=1", http.StatusFound)
		case "/gzip":
			packed = sendGzip(w, `{"a":1}`)
		case "/hints":
			w.Header().Set("Link", "</a.css>")
			w.WriteHeader(http.StatusEarlyHints)
			fmt.Fprint(w, "hinted")
		case "/large":
			_, _ = io.WriteString(w, large)
		case "/head":
			w.Header().Set("Content-Length", "5")
			fmt.Fprint(w, "hello")
		}
	})
	addr, dir, metrics := recordingInto(t, "", "reverse_proxy "+primary)
	direct := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	requests := []string{"GET /304", "GET /204", "GET /302", "GET /gzip", "GET /hints", "GET /large", "HEAD /head", "GET /nothing"}
	hints := 0
	for i, request := range requests {
		method, path, _ := strings.Cut(request, " ")
		ask := func(addr string) (*http.Response, string) {
			req, err := http.NewRequest(method, "http://"+addr+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", "gzip")
			trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { hints++; return nil }}
			resp, err := direct.Do(req.WithContext(httptrace.WithClientTrace(t.Context(), trace)))
			if err != nil {
				t.Fatal(err)
			}
			_, body := drain(t, resp)
			return resp, body
		}
		resp, body := ask(addr)
		alone, bodyAlone := ask(primary)
		if body != bodyAlone || resp.StatusCode != alone.StatusCode || resp.Header.Get("Content-Length") != alone.Header.Get("Content-Length") ||
			resp.Header.Get("Content-Encoding") != alone.Header.Get("Content-Encoding") {
			t.Errorf("%s: client got %d %v, and %d %v of the primary alone", request, resp.StatusCode, resp.Header, alone.StatusCode, alone.Header)
		}
		p := waitPairs(t, dir, i+1)[i]
		if p.status != resp.StatusCode || p.response.body != body || p.response.size != len(body) || p.response.err != "" {
			t.Errorf("%s is recorded as %d with %d bytes of %d, error %q", request, p.status, len(p.response.body), p.response.size, p.response.err)
		}
		for _, name := range []string{"Etag", "Location", "Content-Encoding", "Content-Length", "Content-Type"} {
			if got, want := p.response.field(name), alone.Header.Get(name); got != want {
				t.Errorf("%s: %s is recorded as %q, want %q", request, name, got, want)
			}
		}
		if request == "GET /gzip" && p.response.body != string(packed) {
			t.Error("gzip is not recorded as it was sent")
		}
	}
	if hints != 2 {
		t.Errorf("clients got %d early hints, want one with the tee and one without", hints)
	}
	counted(t, metrics, "caddy_recording_records_total", "", len(requests))
}

// TestEventsArriveAsTheyAreSentAndAreRecorded has a stream without an end of its own.
func TestEventsArriveAsTheyAreSentAndAreRecorded(t *testing.T) {
	var streams sync.Map // channels of events by the request's target
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		events, _ := streams.Load(r.RequestURI)
		for event := range events.(chan string) {
			fmt.Fprintf(w, "data: %s\n\n", event)
			_ = http.NewResponseController(w).Flush()
		}
	})
	dir := t.TempDir()
	recordedSoFar := 0
	everyProtocol(t, teeRecording(t, dir, "", "reverse_proxy "+primary), func(t *testing.T, client *http.Client, url string) {
		send := make(chan string)
		path := fmt.Sprintf("/%d", recordedSoFar)
		streams.Store(path, send)
		resp := make(chan *http.Response, 1)
		go func() {
			r, err := client.Get(url + path)
			if err != nil {
				t.Error(err)
				return
			}
			resp <- r
		}()
		send <- "first"
		stream := next(t, resp).Body
		defer stream.Close()
		want := ""
		for _, event := range []string{"first", "second", "third"} {
			if event != "first" {
				send <- event
			}
			got := make([]byte, len("data: \n\n")+len(event))
			if _, err := io.ReadFull(stream, got); err != nil || string(got) != "data: "+event+"\n\n" {
				t.Fatalf("got %q, error %v", got, err)
			}
			want += string(got)
		}
		if n := len(pairsOf(t, dir)); n != recordedSoFar {
			t.Errorf("%d are recorded before the stream has ended", n)
		}
		recordedSoFar++
		if recordedSoFar%2 == 0 {
			close(send)
			if rest, err := io.ReadAll(stream); err != nil || len(rest) > 0 {
				t.Errorf("got %q, error %v", rest, err)
			}
		} else {
			stream.Close() // the client leaves
			defer close(send)
		}
		p := waitPairs(t, dir, recordedSoFar)[recordedSoFar-1]
		if p.status != 200 || p.response.body != want || (p.response.err == "") != (recordedSoFar%2 == 0) {
			t.Errorf("recorded as %d %+v", p.status, p.response)
		}
	})
}

// TestBrokenResponsesAreRecordedWithTheReason has primaries abort, panic, give
// errors, be down, and take the connection over.
func TestBrokenResponsesAreRecordedWithTheReason(t *testing.T) {
	cut := newBareServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "hello")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	for name, c := range map[string]struct {
		primary string
		status  int
		body    string
		err     string
	}{
		"cut upstream":  {"reverse_proxy " + cut, 200, "hello", "after 5 bytes of the body: the primary aborted the response"},
		"dead upstream": {"reverse_proxy " + refusing, 502, "", "left to the error routes: dial tcp 127.0.0.1:1: connect: connection refused"},
		"panic":         {"test_trouble panic", 0, "", "the primary aborted the response"},
		"abort":         {"test_trouble abort", 0, "", "the primary aborted the response"},
		"error":         {"test_trouble error", 500, "", "left to the error routes: no good"},
		"hijack":        {"test_trouble hijack", 0, "", "the primary took over the connection"},
		"error routes":  {"error /a 418\nhandle_errors {\nrespond sorry\n}", 418, "", "left to the error routes"},
		"nothing":       {"test_trouble nothing", 200, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			addr, dir, _ := recordingInto(t, "", c.primary)
			conn, _ := dial(t, addr)
			fmt.Fprint(conn, "GET /a HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
			if name == "hijack" {
				conn.Close()
			}
			p := waitPairs(t, dir, 1)[0]
			if p.status != c.status || p.response.body != c.body || p.response.err != c.err {
				t.Errorf("recorded as %d %+v", p.status, p.response)
			}
		})
	}
}

// TestUpgradesAreNotRecordedButCounted speaks WebSocket through the tee.
func TestUpgradesAreNotRecordedButCounted(t *testing.T) {
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		if kind, message, err := conn.Read(r.Context()); err == nil {
			_ = conn.Write(r.Context(), kind, message)
		}
	})
	addr, dir, metrics := recordingInto(t, "", "reverse_proxy "+primary)
	conn, _, err := websocket.Dial(t.Context(), "ws://"+addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, got, err := conn.Read(t.Context()); err != nil || string(got) != "hello" {
		t.Fatalf("got %q, error %v", got, err)
	}
	counted(t, metrics, "caddy_recording_dropped_total", `,reason="unsupported"`, 1)
	get(t, oneShot, "http://"+addr) // an upgrade that is required, and not asked for
	waitPairs(t, dir, 1)
}

// TestFilesAreSentWholeAndRecordedInPart has file_server send more than is
// recorded, ranges included, and encode pack what the record has plain.
func TestFilesAreSentWholeAndRecordedInPart(t *testing.T) {
	root := t.TempDir()
	text := strings.Repeat("all work and no play\n", 50<<10)
	if err := os.WriteFile(filepath.Join(root, "page.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const limit = 100_000
	dir := t.TempDir()
	done := 0
	everyProtocol(t, "root "+root+"\nencode gzip\n"+teeRecording(t, dir, fmt.Sprintf("record %s {\nflush_every 10ms\nmax_body %d\n}", dir, limit), "file_server"), func(t *testing.T, client *http.Client, url string) {
		for _, from := range []int{0, 1000, len(text) - 10} {
			req, err := http.NewRequest("GET", url+"/page.txt", nil)
			if err != nil {
				t.Fatal(err)
			}
			want := text[from:]
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
			if from == 0 {
				req.Header = http.Header{"Accept-Encoding": {"gzip"}}
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, got := drain(t, resp)
			if resp.Header.Get("Content-Encoding") == "gzip" {
				z, err := gzip.NewReader(strings.NewReader(got))
				if err != nil {
					t.Fatal(err)
				}
				unpacked, _ := io.ReadAll(z)
				got = string(unpacked)
			} else if from == 0 {
				t.Error("encode did nothing")
			}
			if got != want {
				t.Errorf("client got %d bytes, want %d", len(got), len(want))
			}
			done++
			p := waitPairs(t, dir, done)[done-1]
			if p.response.body != want[:min(limit, len(want))] || p.response.size != len(want) || p.response.err != "" {
				t.Errorf("recorded are %d bytes of %d, error %q; want %d", len(p.response.body), p.response.size, p.response.err, len(want))
			}
		}
	})
}

// TestSecretsOfResponsesAreLeftOut redacts fields, parameters and places in JSON.
func TestSecretsOfResponsesAreLeftOut(t *testing.T) {
	primary := newBareServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "sid=secret")
		w.Header().Set("Location", "/next?token=secret&a=1")
		w.Header().Set("Trailer", "X-Key")
		if r.URL.Path == "/packed" {
			sendGzip(w, `{"key":"secret"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"user":{"key":"secret"},"list":[1]}`)
		w.Header().Set("X-Key", "secret")
	})
	dir := t.TempDir()
	addr, _, _ := recordingInto(t, "record "+dir+" {\nflush_every 10ms\nredact Set-Cookie Authorization X-Key\nredact_query token\nredact_json $.user.key $.key\n}", "reverse_proxy "+primary)
	for _, path := range []string{"/plain", "/packed"} {
		req, err := http.NewRequest("POST", "http://"+addr+path+"?token=secret", strings.NewReader(`{"user":{"key":"secret"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"secret"}, "Content-Type": {"application/json"}, "Accept-Encoding": {"gzip"}}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, resp)
	}
	all := waitPairs(t, dir, 2)
	if text := fmt.Sprintf("%+v", all); strings.Contains(text, "secret") {
		t.Errorf("recorded is %s", text)
	}
	if got := all[0].response; got.body != `{"user":{"key":"REDACTED"},"list":[1]}` || got.trailers != "X-Key: REDACTED\r\n" || got.field("Location") != "/next?token=REDACTED&a=1" {
		t.Errorf("recorded is %+v", got)
	}
	if got := all[1].response; got.body != `{"key":"REDACTED"}` || got.field("Content-Encoding") != "" {
		t.Errorf("of a packed body %q is recorded, encoding %q", got.body, got.field("Content-Encoding"))
	}
}
