// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestConnectionIsTakenOver(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for i := range 3 {
			resp, body := c.get(fmt.Sprintf("/next%%20one?n=%d", i), "express")
			if want := fmt.Sprintf(`1 GET /next%%20one?n=%d test ""`, i); body != want {
				t.Errorf("got body %s, want %s", body, want)
			}
			if resp.Header.Get("Server") != "Caddy" || resp.Header.Get("Date") == "" || resp.Close {
				t.Errorf("unexpected header %v", resp.Header)
			}
		}
	})
}

func TestBodiesAreRead(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for _, size := range []int{0, 1, 2000, maxHead, 3 << 20} {
			body := strings.Repeat("x", size)
			c.send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s", size, body))
			resp, got := c.answer("POST")
			if want := fmt.Sprintf(`1 POST / test "%s"`, body); got != want || resp.Header.Get("X-Path") != "express" {
				t.Errorf("a body of %d bytes came as %d bytes of answer, on path %s", size, len(got), resp.Header.Get("X-Path"))
			}
		}
	})
}

func TestFirstRequestMayHaveABody(t *testing.T) {
	s := runSites(t, "")
	for _, tc := range []struct {
		size int
		path string
	}{{5, "express"}, {100_000, "express"}, {maxFirstBody + 1, "caddy"}} {
		c := dial(t, s.express)
		body := strings.Repeat("y", tc.size)
		// a second request is already on its way
		c.send(fmt.Sprintf("POST /a HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%sGET /b HTTP/1.1\r\nHost: test\r\n\r\n", tc.size, body))
		resp, got := c.answer("POST")
		if got != fmt.Sprintf(`1 POST /a test "%s"`, body) || resp.Header.Get("X-Path") != tc.path {
			t.Errorf("%d bytes: answered on path %s with %d bytes", tc.size, resp.Header.Get("X-Path"), len(got))
		}
		if _, got := c.answer("GET"); got != `1 GET /b test ""` {
			t.Errorf("%d bytes: the request behind them got %s", tc.size, got)
		}
	}
}

func TestPipelining(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		const n = 500
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, "POST /%d HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc", i)
		}
		go c.send(all.String())
		for i := range n {
			if _, body := c.answer("POST"); body != fmt.Sprintf(`1 POST /%d test "abc"`, i) {
				t.Fatalf("answer %d is %s", i, body)
			}
		}
	})
}

// TestWhatIsBufferedIsBounded has many requests behind a large first body.
func TestWhatIsBufferedIsBounded(t *testing.T) {
	s := runSites(t, "")
	for name, dial := range map[string]func(testing.TB) *client{"plain": s.dial, "TLS": s.dialTLS} {
		t.Run(name, func(t *testing.T) {
			const n = 2000
			c := dial(t)
			requests := fmt.Sprintf("POST /bytes/1 HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s%s", maxFirstBody,
				strings.Repeat("x", maxFirstBody), strings.Repeat("GET /bytes/4000 HTTP/1.1\r\nHost: test\r\n\r\n", n))
			largestIn.Store(0)
			largestOut.Store(0)
			go io.WriteString(c, requests)
			c.answer("POST")
			for range n {
				c.answer("GET")
			}
			if most := largestOut.Load(); most > maxGathered {
				t.Errorf("%d bytes of answers were gathered", most)
			}
			largestIn.Store(0)
			c.get("/", "express")
			if most := largestIn.Load(); most > maxHead {
				t.Errorf("the input buffer has still %d bytes", most)
			}
		})
	}
}

func TestLineEndsBehindABody(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for _, pause := range []bool{false, true} {
			c.send("POST /a HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc\r\n")
			if pause {
				c.answer("POST")
				c.get("/b", "express")
				continue
			}
			c.send("GET /b HTTP/1.1\r\nHost: test\r\n\r\n")
			c.answer("POST")
			if _, body := c.answer("GET"); body != `1 GET /b test ""` {
				t.Errorf("the request behind it got %s", body)
			}
		}
	})
}

func TestRequestsInPieces(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		const request = "POST /p HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\nbody"
		for i := range request {
			c.send(request[i : i+1])
		}
		resp, body := c.answer("POST")
		if body != `1 POST /p test "body"` || resp.Header.Get("X-Path") != "express" {
			t.Errorf("got %s on path %s", body, resp.Header.Get("X-Path"))
		}
	})
}

func TestOnlyPlainRequestsTakeTheConnectionOver(t *testing.T) {
	s := runSites(t, "")
	for name, first := range map[string]string{
		"HTTP/1.0":    "GET / HTTP/1.0\r\nHost: test\r\nConnection: keep-alive\r\n\r\n",
		"close":       "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
		"chunked":     "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"absolute":    "GET http://test/ HTTP/1.1\r\nHost: test\r\n\r\n",
		"upgrade":     "GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"long":        "GET / HTTP/1.1\r\nHost: test\r\nCookie: " + strings.Repeat("c", maxHead) + "\r\n\r\n",
		"left to it":  "GET /caddy HTTP/1.1\r\nHost: test\r\n\r\n",
		"OPTIONS any": "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n",
	} {
		c := dial(t, s.express)
		c.send(first)
		if resp, body := c.answer("GET"); resp.Header.Get("X-Path") != "caddy" && resp.ContentLength != 0 {
			t.Errorf("%s: answered on path %s: %s", name, resp.Header.Get("X-Path"), body)
		}
	}
}

func TestServerSettingsThatAreCaddysOwn(t *testing.T) {
	s := runSites(t, "servers {\n\t\texpected_underscore_headers Webhook_*\n\t}")
	dial(t, s.express).get("/", "caddy")
}

func TestFieldsHiddenByCaddyStayHidden(t *testing.T) {
	var h Head
	if !h.parse("GET / HTTP/1.1\r\nHost: test\r\nX_Under: 1\r\nX.Dot: 2\r\nX-Plain: 3\r\n\r\n") {
		t.Fatal("the head is refused")
	}
	if len(h.Fields) != 2 || h.Get("x-plain") != "3" || h.Get("X_Under") != "" {
		t.Errorf("fields are %v", h.Fields)
	}
}
