// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// alone is a site of the test handler with more lines in front of it.
func alone(addr, hosts, lines string) string {
	return "{\norder express_test before respond\n}\n" + strings.ReplaceAll(hosts, "PORT", port(addr)) +
		" {\nbind 127.0.0.1\n" + lines + "\nexpress_test 1 express\n}\n"
}

func TestWhatStandsInTheWayIsNamed(t *testing.T) {
	for name, tc := range map[string]struct{ lines, named string }{
		"another handler": {"header X-A b", `["headers"]`},
		"two":             {"vars a b\nencode gzip", `["vars","encode"]`},
		"matcher":         {"handle /a {\nexpress_test 2\n}", `["matcher path","express_test"]`},
		"errors":          {"handle_errors {\nrespond oops\n}", `["handle_errors","static_response"]`},
	} {
		t.Run(name, func(t *testing.T) {
			addr := caddytest.Addr(t)
			s := caddytest.Run(t, alone(addr, "http://:PORT", tc.lines))
			c := dial(t, addr)
			c.get("/", "caddy")
			c.get("/", "caddy")
			if n := strings.Count(s.Logs(), "express takes no connection over"); n != 1 || !strings.Contains(s.Logs(), `"in_the_way":`+tc.named) {
				t.Errorf("%d warnings, the log is\n%s", n, s.Logs())
			}
		})
	}
}

// TestEachReloadLooksAgain adds a handler and takes it away again.
func TestEachReloadLooksAgain(t *testing.T) {
	addr := caddytest.Addr(t)
	s := caddytest.Run(t, alone(addr, "http://:PORT", ""))
	answered := func(path string) {
		t.Helper()
		eventually(t, "an answer of the new configuration", func() bool {
			c := dial(t, addr)
			if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: test\r\n\r\n")); err != nil {
				return false
			}
			if _, err := c.in.Peek(1); err != nil {
				return false
			}
			resp, _ := c.answer("GET")
			return resp.Header.Get("X-Path") == path && (resp.Header.Get("X-A") != "") == (path == "caddy")
		})
	}
	answered("express")
	s.Reload(alone(addr, "http://:PORT", "header X-A b"))
	answered("caddy")
	s.Reload(alone(addr, "http://:PORT", ""))
	answered("express")
}

// TestHostsOfOthersGoBackToCaddy has requests for hosts of which the site knows
// two, on one connection.
func TestHostsOfOthersGoBackToCaddy(t *testing.T) {
	addr := caddytest.Addr(t)
	caddytest.Run(t, alone(addr, "http://one.test:PORT, http://*.two.test:PORT", ""))
	c := dial(t, addr)
	for _, tc := range []struct{ host, path string }{
		{"one.test", "express"},
		{"ONE.test:80", "express"},
		{"a.two.test", "express"},
		{"one.test", "express"},
		{"two.test", ""},
		{"other.test", ""},
		{"one.test", "express"},
	} {
		c.send("GET / HTTP/1.1\r\nHost: " + tc.host + "\r\n\r\n")
		if resp, body := c.answer("GET"); resp.Header.Get("X-Path") != tc.path || (tc.path == "") != (body == "") {
			t.Errorf("%s: answered on path %q: %s", tc.host, resp.Header.Get("X-Path"), body)
		}
	}
}

// TestChallengesAreCaddys holds that what Caddy answers ahead of its routes
// is left to it.
func TestChallengesAreCaddys(t *testing.T) {
	s := runSites(t, "")
	c := s.taken(t)
	c.get("/.well-known/acme-challenge/token", "caddy")
	c.get("/", "express")
}
