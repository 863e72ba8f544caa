// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/caddy-rehearsal/rehearsal/blackhole"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	_ "github.com/caddy-rehearsal/rehearsal/internal/words"
)

// mixed makes requests of all kinds that a server can get.
func mixed(n int) []*recording.Request {
	random := rand.New(rand.NewPCG(1, 2))
	methods := []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BAN", "PROPFIND"}
	targets := []string{
		"/", "/a%2Fb", "/a%2fb/..;/c", "//double//slash", "/s?p=%2B%2B&p=+&z=1&a=2&p=", "/cgi?a=1;b=2&c=%3B&d", "/%00%ff?",
		"/" + strings.Repeat("long/", 200),
	}
	var requests []*recording.Request
	for i := range n {
		r := &recording.Request{
			ID: fmt.Appendf(nil, "r%06d", i), Method: []byte(methods[random.IntN(len(methods))]),
			URI: []byte(targets[random.IntN(len(targets))]), Host: []byte("shop.test"), TimeNS: origin + int64(i),
		}
		r.Headers = fmt.Appendf(nil, "Host: shop.test\r\nX-Request-Id: %s\r\nX-Name: Caf\xe9 \xff\xfe\r\nX-Twice: 1\r\nX-Twice: 2\r\nCookie: id=1; id=2; =x; bad\r\n", r.ID)
		if string(r.Method) != "HEAD" && random.IntN(2) == 0 {
			r.Body = make([]byte, random.IntN(5000))
			for j := range r.Body {
				r.Body[j] = byte(random.Uint32())
			}
			switch random.IntN(3) {
			case 0:
				r.Headers = append(r.Headers, "Transfer-Encoding: chunked\r\n"...)
			case 1:
				r.Headers = fmt.Appendf(r.Headers, "Content-Length: %d\r\nContent-Encoding: gzip\r\n", len(r.Body))
			}
		}
		requests = append(requests, r)
	}
	return requests
}

// What one blackhole has recorded is replayed into another: both recordings
// hold the same requests.
func TestAReplayIsRecordedAsItsRecording(t *testing.T) {
	const n = 1000
	firstDir, secondDir := t.TempDir(), t.TempDir()
	first, second := caddytest.Addr(t), caddytest.Addr(t)
	caddy := caddytest.Run(t, blackhole(first, firstDir)+blackhole(second, secondDir))
	source := writeRequests(t, "source.fbf", mixed(n))
	if o := replay(t, "--to", first, "--max", "-c", "8", source); o.status != 0 {
		t.Fatalf("the first replay exits with %d: %s%s", o.status, o.stdout, o.stderr)
	}
	caddy.Reload(blackhole(second, secondDir)) // ends the first recording
	if o := replay(t, "--to", second, "--max", "-c", "8", firstDir); o.status != 0 {
		t.Fatalf("the second replay exits with %d: %s%s", o.status, o.stdout, o.stderr)
	}
	caddy.Reload(":" + port(first) + " {\nrespond bye\n}\n")
	one, two := read(t, firstDir), read(t, secondDir)
	byID := func(a, b *recording.Request) int { return bytes.Compare(a.ID, b.ID) }
	slices.SortFunc(one, byID)
	slices.SortFunc(two, byID)
	if len(one) != n || len(two) != n {
		t.Fatalf("the recordings have %d and %d records, want %d", len(one), len(two), n)
	}
	for i := range one {
		a, b := one[i], two[i]
		if !bytes.Equal(a.ID, b.ID) || !bytes.Equal(a.Method, b.Method) || !bytes.Equal(a.URI, b.URI) ||
			!bytes.Equal(a.Headers, b.Headers) || !bytes.Equal(a.Body, b.Body) {
			t.Fatalf("record %d:\n%s %s\n%q\nand\n%s %s\n%q", i, a.Method, a.URI, a.Headers, b.Method, b.URI, b.Headers)
		}
	}
}

func port(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// blackhole returns a site that records all into a folder.
func blackhole(addr, dir string) string {
	return "http://:" + port(addr) + " {\nbind 127.0.0.1\nblackhole {\nrecord " + filepath.ToSlash(dir) + "\n}\n}\n"
}
