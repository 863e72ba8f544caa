// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStatusesAreFramedAsByCaddy(t *testing.T) {
	s := runSites(t, "")
	for _, status := range []int{200, 201, 204, 205, 304, 404, 500, 503, 599, 799} {
		for _, method := range []string{"GET", "HEAD"} {
			request := fmt.Sprintf("%s /?status=%d HTTP/1.1\r\nHost: test\r\n\r\n", method, status)
			plain := dial(t, s.caddy)
			plain.get("/first", "caddy")
			want := withoutLengthOfNone(exchangeAll(plain, request))
			s.over(t, func(t *testing.T, c *client) {
				if got := withoutLengthOfNone(exchangeAll(c, request)); got != want {
					t.Errorf("%s, status %d: got\n%s\nbut Caddy gives\n%s", method, status, got, want)
				}
			})
		}
	}
}

// withoutLengthOfNone leaves the length of a 304 open: it may be sent or not.
func withoutLengthOfNone(answers string) string {
	first, rest, _ := strings.Cut(answers, "\n")
	if strings.Contains(first, " 304 ") {
		first = "304"
	}
	return first + "\n" + rest
}

func TestLargeBodies(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for _, size := range []int{maxCopied, maxCopied + 1, 428_000, 8 << 20} {
			_, body := c.get(fmt.Sprintf("/bytes/%d", size), "express")
			if body != strings.Repeat("b", size) {
				t.Errorf("of %d bytes %d came", size, len(body))
			}
		}
	})
}

func TestAnswersInPieces(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		for range 2 {
			if resp, body := c.get("/pieces", "express"); body != "onetwosix" || resp.ContentLength != 9 {
				t.Errorf("got %q of %d bytes", body, resp.ContentLength)
			}
			c.send("HEAD /pieces HTTP/1.1\r\nHost: test\r\n\r\n")
			if resp, body := c.answer("HEAD"); body != "" || resp.ContentLength != 9 {
				t.Errorf("HEAD got %q of %d bytes", body, resp.ContentLength)
			}
		}
	})
}

func TestFieldsOfTheHandlersOwn(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		resp, body := c.get("/own", "express")
		if got := resp.Header.Values("Server"); len(got) != 1 || got[0] != "Own" || !resp.Close || body != `1 GET /own test ""` {
			t.Errorf("got %q with %v", body, resp.Header)
		}
		if got := resp.Header.Values("Alt-Svc"); len(got) != 1 || got[0] != "own" {
			t.Errorf("got Alt-Svc %q", got)
		}
		if resp.Header.Get("X-Split") != "" {
			t.Error("a value with a line break was sent")
		}
		c.ended()
	})
}

func TestUnreadBodies(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		post := func(size int) {
			c.send(fmt.Sprintf("POST /unread HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n", size))
			go io.WriteString(c, strings.Repeat("u", size)+"GET /next HTTP/1.1\r\nHost: test\r\n\r\n")
		}
		post(maxDrained)
		c.answer("POST")
		if _, body := c.answer("GET"); body != `1 GET /next test ""` {
			t.Errorf("the request behind a short body got %s", body)
		}
		post(10 << 20) // too much to be read for nothing
		if resp, _ := c.answer("POST"); resp.StatusCode != 200 || !resp.Close {
			t.Errorf("status %d for a long body, close %v", resp.StatusCode, resp.Close)
		}
	})
}

func TestConnectionsHandedToTheHandler(t *testing.T) {
	s := runSites(t, "")
	for target, want := range map[string]string{"/raw": "no HTTP at all", "/silent": "", "/panic": ""} {
		s.over(t, func(t *testing.T, c *client) {
			c.send("GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n")
			if got, err := io.ReadAll(c.in); string(got) != want || err != nil {
				t.Errorf("%s: got %q, %v", target, got, err)
			}
		})
	}
	contains(t, s.Logs(), "panic while answering a request", "as the test wants it")
}

// TestConnectionsHandedOverLate has the deadline of an earlier answer pass.
func TestConnectionsHandedOverLate(t *testing.T) {
	s := runSites(t, servers("write_idle "+limit))
	s.over(t, func(t *testing.T, c *client) {
		time.Sleep(600 * time.Millisecond)
		c.send("GET /raw HTTP/1.1\r\nHost: test\r\n\r\n")
		if got, err := io.ReadAll(c.in); string(got) != "no HTTP at all" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestReset(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /before HTTP/1.1\r\nHost: test\r\n\r\nGET /reset HTTP/1.1\r\nHost: test\r\n\r\n")
		if _, body := c.answer("GET"); body != `1 GET /before test ""` {
			t.Errorf("the request before it got %s", body)
		}
		if got, err := io.ReadAll(c.in); len(got) > 0 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
