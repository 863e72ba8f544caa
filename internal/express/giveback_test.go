// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"net/http"
	"strings"
	"testing"
)

func TestWhatIsNotPlainGoesBackToCaddyAndForth(t *testing.T) {
	s := runSites(t, "")
	chunked := "POST /c HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n" +
		"3;note=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n"
	s.over(t, func(t *testing.T, c *client) {
		for range 3 {
			c.send(chunked)
			if resp, body := c.answer("POST"); body != `1 POST /c test "abcde"` || resp.Header.Get("X-Path") != "caddy" {
				t.Errorf("got %s on path %s", body, resp.Header.Get("X-Path"))
			}
			c.get("/plain", "express")
		}
		c.get("/caddy", "caddy")
		c.get("/caddy", "caddy")
		c.get("/plain", "express")
	})
}

func TestGivenBackConnectionsKnowTheirTLS(t *testing.T) {
	s := runSites(t, "")
	c := s.takenTLS(t)
	if resp, _ := c.get("/caddy", "caddy"); resp.Header.Get("X-Scheme") != "https" {
		t.Errorf("the scheme is %q", resp.Header.Get("X-Scheme"))
	}
}

func TestExpectContinue(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("POST /e HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
		if resp, _ := c.answer("POST"); resp.StatusCode != http.StatusContinue {
			t.Fatalf("got status %d", resp.StatusCode)
		}
		c.send("body")
		if _, body := c.answer("POST"); body != `1 POST /e test "body"` {
			t.Errorf("got %s", body)
		}
		c.get("/plain", "express")
	})
}

func TestPipelinedBehindWhatIsNotPlain(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /1 HTTP/1.1\r\nHost: test\r\n\r\n" +
			"GET /2 HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\n\r\n" +
			"GET /caddy/3 HTTP/1.1\r\nHost: test\r\n\r\n" +
			"GET /4 HTTP/1.1\r\nHost: test\r\n\r\n")
		for _, want := range []string{"/1", "/2", "/caddy/3", "/4"} {
			_, body := c.answer("GET")
			contains(t, body, "GET "+want+" test")
		}
	})
}

func TestLongHeads(t *testing.T) {
	s := runSites(t, "servers {\n\t\tmax_header_size 12KB\n\t}")
	long := func(n int) string {
		return "GET / HTTP/1.1\r\nHost: test\r\nCookie: " + strings.Repeat("c", n) + "\r\n\r\n"
	}
	s.over(t, func(t *testing.T, c *client) {
		c.send(long(7000))
		if resp, _ := c.answer("GET"); resp.Header.Get("X-Path") != "express" {
			t.Errorf("7000 bytes: status %d, path %q", resp.StatusCode, resp.Header.Get("X-Path"))
		}
		c.send(long(11_000))
		if resp, _ := c.answer("GET"); resp.Header.Get("X-Path") != "caddy" {
			t.Errorf("11000 bytes: status %d, path %q", resp.StatusCode, resp.Header.Get("X-Path"))
		}
	})
	s.over(t, func(t *testing.T, c *client) {
		go c.Write([]byte(long(20_000)))
		if resp, _ := c.answer("GET"); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("20000 bytes: status %d", resp.StatusCode)
		}
	})
}
