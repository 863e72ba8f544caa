// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// What was recorded in a proxy's form names its server in the target, before
// which a Host field means nothing (RFC 9112, section 3.2.2).
func TestHostOfRequestsInAProxysForm(t *testing.T) {
	got := make(chan string, 1)
	addr := peertest.Serve(t, func(conn *net.TCPConn) {
		if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			got <- r.RequestURI + " of " + r.Host
			io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		}
	})
	path := writeRequests(t, "a.fbf", []*recording.Request{{
		Method: []byte("GET"), URI: []byte("http://shop.test/a?b"), Host: []byte("shop.test"), Headers: []byte("Host: shop.test\r\n"), TimeNS: origin,
	}})
	for host, want := range map[string]string{
		"preserve":   "http://shop.test/a?b of shop.test",
		"target":     "/a?b of " + addr,
		"stage.test": "/a?b of stage.test",
	} {
		if o := replay(t, "--to", "http://"+addr, "--host", host, path); o.status != 0 {
			t.Fatalf("status %d: %s", o.status, o.stderr)
		}
		select {
		case seen := <-got:
			if seen != want {
				t.Errorf("--host %s: the target got %s, want %s", host, seen, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no request came")
		}
	}
}

// Such a target has a path like any other.
func TestPathsOfRequestsInAProxysForm(t *testing.T) {
	path := writeRequests(t, "a.fbf", []*recording.Request{
		{ID: []byte("a"), Method: []byte("GET"), URI: []byte("http://shop.test/api/7?b"), Headers: []byte("Host: shop.test\r\n")},
		{ID: []byte("b"), Method: []byte("GET"), URI: []byte("http://shop.test?api"), Headers: []byte("Host: shop.test\r\n")},
	})
	for glob, want := range map[string]string{"/api/*": "a", "/": "b", "http://*": ""} {
		got := ""
		for _, line := range strings.Split(show(t, "--path", glob, path).stdout, "\n")[1:] {
			if fields := strings.Fields(line); len(fields) > 1 {
				got += fields[1]
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", glob, got, want)
		}
	}
	s := serve(t, nil)
	if o := replay(t, "--to", s.url, "--max", "--host", "target", "--by", "path", path); o.status != 0 || !strings.Contains(spaced(o.stdout), "\n/api/* 1 0 1 ") {
		t.Errorf("status %d\n%s", o.status, o.stdout)
	}
}
