// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package express

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestReloadsAreNotFelt keeps connections busy, each in the way of a load
// generator: a request as soon as the last answer is in, another connection as
// soon as an answer says that it is the last.
func TestReloadsAreNotFelt(t *testing.T) {
	s := runSites(t, "")
	var stop atomic.Bool
	var requests atomic.Int64
	var clients sync.WaitGroup
	const busy = 8
	for range busy {
		clients.Go(func() {
			for !stop.Load() {
				if err := busyConnection(s.express, &stop, &requests); err != nil {
					t.Errorf("a client felt a reload: %v", err)
					return
				}
			}
		})
	}
	for generation := range 20 {
		before := requests.Load()
		// who connects in the moment of a reload may be turned away by Caddy
		eventually(t, "the clients get on", func() bool {
			return t.Failed() || takenBy(fmt.Sprint(generation+1)) == busy && requests.Load() > before+200
		})
		s.Reload(s.config("", fmt.Sprint(generation+2)))
	}
	stop.Store(true)
	clients.Wait()
	_, body := s.taken(t).get("/", "express")
	if !strings.HasPrefix(body, "21 ") {
		t.Errorf("a new connection is answered by configuration %s", body)
	}
	eventually(t, "old connections end", func() bool { return open(t) <= 1 })
}

func busyConnection(addr string, stop *atomic.Bool, requests *atomic.Int64) error {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	for !stop.Load() {
		r, err := http.NewRequest(http.MethodPut, "http://"+addr+"/", strings.NewReader("never sent twice"))
		if err != nil {
			return err
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
		requests.Add(1)
	}
	return nil
}

func TestReloadEndsWithTheNextAnswer(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		s.Reload(s.config("", "2"))
		c.lastAnswers()
		s.Reload(s.config("", "1"))
	})
}

// lastAnswers reads on until an answer of the old configuration is the last.
func (c *client) lastAnswers() {
	c.t.Helper()
	for last := false; !last; {
		resp, _ := c.get("/last", "express")
		last = resp.Close
	}
	c.ended()
}

// askUntilEnded asks until the server has ended the connection, with an answer that
// is the last or while it was idle.
func (c *client) askUntilEnded() {
	for {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
			return
		}
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil || resp.Close {
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
}

func TestReloadLetsWhatIsNotPlainBeAnswered(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		s.Reload(s.config("", "2"))
		eventually(t, "the old configuration ends", func() bool { return drains("1") })
		c.send("POST /c HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
		if resp, body := c.answer("POST"); !resp.Close || body != `1 POST /c test "abc"` {
			t.Errorf("the answer after the reload: %s, close %v", body, resp.Close)
		}
		c.ended()
		s.Reload(s.config("", "1"))
	})
}

func TestReloadClosesIdleConnectionsBeforeLong(t *testing.T) {
	s := runSites(t, "")
	plain, overTLS := s.taken(t), s.takenTLS(t)
	s.Reload(s.config("", "2"))
	plain.ended()
	overTLS.ended()
}

func TestReloadLetsRequestsSleepOn(t *testing.T) {
	s := runSites(t, "")
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /sleep?1s HTTP/1.1\r\nHost: test\r\n\r\n")
		eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
		s.Reload(s.config("", "2"))
		if resp, body := c.answer("GET"); !resp.Close || !strings.HasPrefix(body, "1 ") {
			t.Errorf("the answer after the reload: %s, close %v", body, resp.Close)
		}
		c.ended()
		s.Reload(s.config("", "1"))
	})
}

func TestNothingOutlivesTheGracePeriod(t *testing.T) {
	s := runSites(t, "grace_period 500ms")
	s.over(t, func(t *testing.T, c *client) {
		c.send("GET /sleep?1h HTTP/1.1\r\nHost: test\r\n\r\n")
		eventually(t, "the request sleeps", func() bool { return asleep.Load() == 1 })
		s.Reload(s.config("grace_period 500ms", "2"))
		c.ended()
		eventually(t, "the request ends", func() bool { return asleep.Load() == 0 })
	})
}

func TestReloadsLeaveNothingBehind(t *testing.T) {
	s := runSites(t, "grace_period 100ms")
	round := func(generation int) {
		c := s.taken(t)
		s.Reload(s.config("grace_period 100ms", fmt.Sprint(generation)))
		c.askUntilEnded() // after the grace period also where no answer says that it is the last
	}
	round(2)
	eventually(t, "connections end", func() bool { return open(t) == 0 })
	before := runtime.NumGoroutine()
	for i := range 20 {
		round(i + 3)
	}
	eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+5 })
}

func TestPoolOfAFailedProvision(t *testing.T) {
	var none *Pool
	none.Close()
	if none.TakeOver(nil, nil) {
		t.Error("a pool that is none took a connection over")
	}
}

// TestSweepMeetsAwait has a pool sweep while its connections become idle and
// busy again: each ends one way or the other.
func TestSweepMeetsAwait(t *testing.T) {
	s := runSites(t, "grace_period 30ms") // idle connections linger no longer
	for i := range 10 {
		var clients sync.WaitGroup
		for range 10 {
			clients.Go(func() {
				c := s.taken(t)
				for {
					if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
						return
					}
					resp, err := http.ReadResponse(c.in, nil)
					if err != nil || resp.Close {
						return
					}
					io.Copy(io.Discard, resp.Body)
					time.Sleep(time.Duration(i) * time.Millisecond)
				}
			})
		}
		eventually(t, "all connections are taken over", func() bool { return open(t) == 10 })
		s.Reload(s.config("grace_period 30ms", fmt.Sprint(i+2)))
		clients.Wait()
	}
	eventually(t, "connections end", func() bool { return open(t) == 0 })
}
