// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// expressIsOn has every simulator of the tests take connections over.
var expressIsOn bool

// onCaddysPath has a test run there in any case.
func onCaddysPath(t testing.TB) {
	before := expressIsOn
	expressIsOn = false
	t.Cleanup(func() { expressIsOn = before })
}

// site returns the Caddyfile of a site on an address with these lines in it.
func site(addr string, lines ...string) string {
	return "http://" + addr + " {\n" + withExpress(strings.Join(lines, "\n")) + "\n}\n"
}

// withExpress returns a Caddyfile with express on in its simulators, if tests run with it.
func withExpress(config string) string {
	if !expressIsOn {
		return config
	}
	return strings.ReplaceAll(config, "simulator {\n", "simulator {\nexpress\n")
}

// serve runs Caddy with one site and gives its URL.
func serve(t testing.TB, lines ...string) (*caddytest.Server, string) {
	t.Helper()
	addr := caddytest.Addr(t)
	return caddytest.Run(t, site(addr, lines...)), "http://" + addr
}

// onAnotherConnection has the next request made on one that no handler has
// taken over, so that the routes of the site say what answers it.
func onAnotherConnection() { http.DefaultClient.CloseIdleConnections() }

// get asks for a URL and gives the status and the body.
func get(t testing.TB, url string) (int, string) {
	t.Helper()
	return read(t, insist(t, func() (*http.Response, error) { return http.Get(url) }))
}

// post posts to a URL and gives the status and the body.
func post(t testing.TB, url, body string) (int, string) {
	t.Helper()
	return read(t, insist(t, func() (*http.Response, error) {
		return http.Post(url, "application/json", strings.NewReader(body))
	}))
}

// insist repeats a request whose connection breaks before any answer: a reload
// closes those that are idle and loses those that wait to be accepted, whatever
// the handlers are.
func insist(t testing.TB, request func() (*http.Response, error)) *http.Response {
	t.Helper()
	resp, err := request()
	for tries := 0; err != nil && tries < 10; tries++ {
		resp, err = request()
	}
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func read(t testing.TB, resp *http.Response) (int, string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func wantStatus(t testing.TB, url string, want int) {
	t.Helper()
	if status, body := get(t, url); status != want {
		t.Errorf("%s: got %d %.200s, want %d", url, status, body, want)
	}
}

func eventually(t testing.TB, what func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !what(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to pass")
		}
	}
}
