// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// expressIsOn has every blackhole of the tests take connections over.
var expressIsOn bool

// TestMain runs all tests on Caddy's path and again on the express path.
func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	failed := m.Run()
	expressIsOn = true
	os.Exit(failed | m.Run())
}

// onCaddysPath has a test run there in any case.
func onCaddysPath(t *testing.T) {
	before := expressIsOn
	expressIsOn = false
	t.Cleanup(func() { expressIsOn = before })
}

// site returns a Caddyfile of one site, for any host.
func site(addr, directives string) string {
	if end := strings.LastIndex(directives, "}"); expressIsOn && strings.Contains(directives, "blackhole {") && end > 0 {
		directives = directives[:end] + "express\n" + directives[end:]
	}
	host, port, _ := net.SplitHostPort(addr)
	return "http://:" + port + " {\nbind " + host + "\n" + directives + "\n}\n"
}

// start runs a Caddy with one site and gives its address.
func start(t testing.TB, directives string) (*caddytest.Server, string) {
	t.Helper()
	addr := caddytest.Addr(t)
	return caddytest.Run(t, site(addr, directives)), addr
}

// client opens a connection for each request, so that none is one that a
// reload has closed.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// post sends a body and gives status and body of the answer. A connection that
// is lost because the listener of an old configuration was closed is tried again.
func post(t testing.TB, url, body string) (status int, answer string) {
	t.Helper()
	eventually(t, "an answer", func() bool {
		resp, err := client.Post(url, "application/octet-stream", strings.NewReader(body))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		status, answer = resp.StatusCode, string(text)
		return err == nil
	})
	return status, answer
}

// uniqueName names a blackhole whose metrics no other test has counted.
func uniqueName() string { return fmt.Sprint("test-", time.Now().UnixNano()) }

// roundTrip sends bytes as they are and gives the answer to them, and the
// connection for more.
func roundTrip(t testing.TB, addr, method, raw string) (*http.Response, net.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("reading the answer to %.40q: %v", raw, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp, conn
}

// stop ends Caddy, so that all that it recorded is in whole files.
func stop(t testing.TB) {
	t.Helper()
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}

// recorded is what a test looks at of a recorded request.
type recorded struct {
	id, method, uri, headers, body, scheme, host, proto, remote, trailers, err string
	time                                                                       time.Time
	size                                                                       uint64
	truncated                                                                  bool
}

// records returns what is in the files of the directory, in the order of arrival.
func records(t testing.TB, dir string) []recorded {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for _, file := range files {
		if strings.HasSuffix(file, ".tmp") {
			t.Errorf("%s is not finished", file)
		}
		all = append(all, recordsOf(t, file)...)
	}
	slices.SortStableFunc(all, func(a, b recorded) int { return a.time.Compare(b.time) })
	return all
}

func recordsOf(t testing.TB, file string) []recorded {
	t.Helper()
	f, err := recording.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	for {
		r, err := f.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		if r.Response != nil {
			t.Error("a response is recorded")
		}
		all = append(all, recorded{
			id: string(r.ID), method: string(r.Method), uri: string(r.URI), headers: string(r.Headers), body: string(r.Body),
			scheme: string(r.Scheme), host: string(r.Host), proto: string(r.Proto), remote: string(r.Remote),
			trailers: string(r.Trailers), err: string(r.Error), time: time.Unix(0, r.TimeNS), size: r.BodySize, truncated: r.Truncated(),
		})
	}
}

// one returns the only record in the directory.
func one(t testing.TB, dir string) recorded {
	t.Helper()
	all := records(t, dir)
	if len(all) != 1 {
		t.Fatalf("got %d records, want 1: %+v", len(all), all)
	}
	return all[0]
}

// eventually waits for something to become true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}
