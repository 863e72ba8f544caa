// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// limit is a timeout for tests that wait for it to strike.
const limit = "300ms"

func servers(option string) string {
	return "servers {\n\t\ttimeouts {\n\t\t\t" + option + "\n\t\t}\n\t}"
}

func TestIdleConnectionsEnd(t *testing.T) {
	s := runSites(t, servers("idle "+limit))
	s.over(t, func(_ *testing.T, c *client) { c.ended() })
}

func TestHeadsMustArriveInTime(t *testing.T) {
	s := runSites(t, servers("read_header "+limit))
	s.over(t, func(_ *testing.T, c *client) {
		c.send("GET / HTTP/1.1\r\nHost: te")
		c.ended()
	})
}

func TestHeadsThatDripMustArriveInTime(t *testing.T) {
	s := runSites(t, servers("read_header "+limit))
	s.over(t, func(_ *testing.T, c *client) {
		c.send("GET /")
		go func() {
			for { // never idle, but never done
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
		c.ended()
	})
}

func TestRequestsMustArriveInTime(t *testing.T) {
	s := runSites(t, servers("read_body "+limit))
	s.over(t, func(_ *testing.T, c *client) {
		c.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n")
		for range 100 { // never idle, but never done
			if _, err := c.Write([]byte("x")); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		io.Copy(io.Discard, c.in)
	})
}

func TestBodiesMustNotStall(t *testing.T) {
	s := runSites(t, servers("read_body_idle "+limit))
	s.over(t, func(_ *testing.T, c *client) {
		c.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf")
		c.ended()
	})
}

func TestClientsThatDoNotReadAreLeft(t *testing.T) {
	s := runSites(t, servers("write_idle "+limit))
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /bytes/33554432 HTTP/1.1\r\nHost: test\r\n\r\n")
		eventually(t, "the server leaves", func() bool { return open(t) == 0 })
		c.SetReadDeadline(time.Now().Add(patience))
		if n, err := io.Copy(io.Discard, c.in); n >= 32<<20 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes came, error %v", n, err)
		}
	})
}
