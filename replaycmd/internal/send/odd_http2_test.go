// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package send

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// answeringHTTP2 serves HTTP/2 frame by frame: every request is answered with
// this status, whatever that is.
func answeringHTTP2(t *testing.T, status string) Target {
	t.Helper()
	return nasty(t, func(conn *net.TCPConn, _ int64) {
		if _, err := io.ReadFull(conn, make([]byte, len(h2.ClientPreface))); err != nil {
			return
		}
		framer := h2.NewFramer(conn, conn)
		framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *h2.SettingsFrame:
				if !f.IsAck() {
					framer.WriteSettingsAck()
				}
			case *h2.HeadersFrame:
				var block bytes.Buffer
				hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: status})
				framer.WriteHeaders(h2.HeadersFrameParam{
					StreamID: f.StreamID, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true,
				})
			}
		}
	})
}

func TestImpossibleStatusesInHTTP2(t *testing.T) {
	for _, status := range []string{"1000", "99999", "0", "-1", "99", "007"} {
		client := newClient(t, answeringHTTP2(t, status), Options{HTTP2: true})
		_, err := client.Send(message(t, record("GET", "/", "", "Host: a")), time.Now())
		if err == nil || http1.KindOf(err) != http1.Malformed {
			t.Errorf("%s: got error %v", status, err)
		}
	}
	client := newClient(t, answeringHTTP2(t, "999"), Options{HTTP2: true})
	if answer := mustSend(t, client, record("GET", "/", "", "Host: a")); answer.Status != 999 {
		t.Errorf("got status %d", answer.Status)
	}
}

// What HTTP/2 has no form for is no failure of the connection, and neither ends
// it nor is sent again.
func TestWhatHTTP2CannotCarry(t *testing.T) {
	trailed := record("POST", "/", "body", "Host: a", "Transfer-Encoding: chunked")
	trailed.Trailers = []byte("X: a\x01b\r\n")
	for _, w := range ways {
		if !isHTTP2(w) {
			continue
		}
		var requests atomic.Int64
		target := w.serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
		client := newClient(t, target, w.options)
		mustSend(t, client, record("GET", "/", "", "Host: a"))
		for name, r := range map[string]*Message{
			"a control character": message(t, record("GET", "/", "", "Host: a", "X: a\x01b")),
			"one in a trailer":    message(t, trailed),
			"a target of words":   message(t, record("GET", "words", "", "Host: a")),
			"a host of words":     message(t, record("GET", "/", "", "Host: a b")),
			"a host of no words":  message(t, record("GET", "/", "", "Host: \xff\xfe")),
		} {
			if _, err := client.Send(r, time.Now()); err == nil || http1.KindOf(err) != http1.Unsendable {
				t.Errorf("%s, %s: got error %v", w.name, name, err)
			}
		}
		mustSend(t, client, record("GET", "/", "", "Host: a"))
		if n := client.dialer.Opened(); n != 1 || requests.Load() != 2 {
			t.Errorf("%s: %d requests over %d connections", w.name, requests.Load(), n)
		}
	}
}

// A request that said nothing of its length says nothing now.
func TestNoLengthIsAddedInHTTP2(t *testing.T) {
	for _, w := range ways {
		if !isHTTP2(w) {
			continue
		}
		lengths := make(chan string, 1)
		target := w.serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			lengths <- r.Header.Get("Content-Length")
		}))
		client := newClient(t, target, w.options)
		for _, tc := range []struct {
			record *recording.Request
			want   string
		}{
			{record("POST", "/", "", "Host: a"), ""},
			{record("POST", "/", "", "Host: a", "Content-Length: 0"), "0"},
			{record("PUT", "/", "body", "Host: a", "Content-Length: 4"), "4"},
			{record("GET", "/", "", "Host: a"), ""},
		} {
			mustSend(t, client, tc.record)
			if got := <-lengths; got != tc.want {
				t.Errorf("%s, %s %q: length %q, want %q", w.name, tc.record.Method, tc.record.Headers, got, tc.want)
			}
		}
	}
}
