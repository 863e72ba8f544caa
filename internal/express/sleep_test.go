// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"fmt"
	"io"
	"testing"
	"time"
)

func TestSleepTakesItsTime(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		begin := time.Now()
		c.get("/sleep?200ms", "express")
		if took := time.Since(begin); took < 200*time.Millisecond {
			t.Errorf("the answer came after %v", took)
		}
	})
}

func TestSleepEndsWhenTheClientLeaves(t *testing.T) {
	s := runSites(t, "")
	for name, more := range map[string]string{"idle": "", "with another request": "GET / HTTP/1.1\r\nHost: test\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			s.over(t, func(t *testing.T, c *client) {
				c.send("GET /sleep?1h HTTP/1.1\r\nHost: test\r\n\r\n" + more)
				eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
				c.Close()
				eventually(t, "the request ends", func() bool { return asleep.Load() == 0 })
				eventually(t, "the connection ends", func() bool { return open(t) == 0 })
			})
		})
	}
}

// TestSleepUnderListenerWrappers has connections whose socket is out of sight.
func TestSleepUnderListenerWrappers(t *testing.T) {
	s := runSites(t, "servers {\n\t\tlistener_wrappers {\n\t\t\tproxy_protocol {\n\t\t\t\tallow 127.0.0.1/32\n\t\t\t}\n\t\t\ttls\n\t\t}\n\t}")
	proxied := func() *client {
		c := dial(t, s.express)
		c.send("PROXY TCP4 192.0.2.1 192.0.2.2 1000 80\r\n")
		c.get("/first", "express")
		return c
	}
	c := proxied()
	begin := time.Now()
	c.send("GET /sleep?200ms HTTP/1.1\r\nHost: test\r\n\r\nGET /behind HTTP/1.1\r\nHost: test\r\n\r\n")
	c.answer("GET")
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("the answer came after %v", took)
	}
	if _, body := c.answer("GET"); body != `1 GET /behind test ""` {
		t.Errorf("the request behind it got %s", body)
	}
	for _, more := range []string{"", "GET / HTTP/1.1\r\nHost: test\r\n\r\n"} {
		c = proxied()
		c.send("GET /sleep?1h HTTP/1.1\r\nHost: test\r\n\r\n" + more)
		eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
		c.Close()
		eventually(t, "the request ends", func() bool { return asleep.Load() == 0 })
	}
}

func TestRequestsBehindASleepingOneWait(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /sleep?300ms HTTP/1.1\r\nHost: test\r\n\r\n")
		eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
		c.send("GET /behind HTTP/1.1\r\nHost: test\r\n\r\n")
		c.answer("GET")
		if _, body := c.answer("GET"); body != `1 GET /behind test ""` {
			t.Errorf("got %s", body)
		}
	})
}

func TestBodiesArriveWhileTheRequestSleeps(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("POST /sleep?200ms HTTP/1.1\r\nHost: test\r\nContent-Length: 20000\r\n\r\n")
		eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
		go io.WriteString(c, fmt.Sprintf("%020000d", 7))
		_, body := c.answer("POST")
		contains(t, body, fmt.Sprintf("%020000d", 7))
	})
}
