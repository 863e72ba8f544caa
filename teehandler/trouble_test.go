// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// behave starts a server that does the same with every connection.
func behave(t testing.TB, with func(net.Conn)) (addr string) {
	return peertest.Serve(t, func(conn *net.TCPConn) {
		with(conn)
		<-t.Context().Done() // what it has not closed stays open
	})
}

// answering reads a request and answers it by hand.
func answering(with func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		br := bufio.NewReader(conn)
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			with(conn)
		}
	}
}

func saying(text string) func(net.Conn) {
	return answering(func(conn net.Conn) { _, _ = io.WriteString(conn, text) })
}

func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// endless never ends a response.
func endless(conn net.Conn) {
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n"
	for {
		if _, err := io.WriteString(conn, chunk); err != nil {
			return
		}
	}
}

// insecure is the option for a shadow whose certificate nobody has signed.
func insecure(shadow string) string {
	if strings.HasPrefix(shadow, "https:") {
		return "\ntls_insecure_skip_verify"
	}
	return ""
}

// Whatever a shadow does, the client gets the primary's answer, every copy is
// accounted for, and nothing stays behind.
func TestShadowsInTrouble(t *testing.T) {
	const (
		requests = 20
		timesOut = "timed_out"
	)
	page := strings.Repeat("error ", 1700)
	for name, tc := range map[string]struct {
		shadow  func(testing.TB) string
		outcome string
	}{
		"refuses":    {func(testing.TB) string { return refusing }, "failed_connect"},
		"hangs":      {func(t testing.TB) string { return behave(t, answering(func(net.Conn) {})) }, timesOut},
		"reads not":  {func(t testing.TB) string { return behave(t, func(net.Conn) {}) }, timesOut},
		"resets":     {func(t testing.TB) string { return behave(t, answering(reset)) }, "failed_receive"},
		"closes":     {func(t testing.TB) string { return behave(t, answering(func(c net.Conn) { c.Close() })) }, "failed_receive"},
		"breaks off": {func(t testing.TB) string { return behave(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")) }, timesOut},
		"babbles":    {func(t testing.TB) string { return behave(t, saying("SSH-2.0-OpenSSH_9\r\n\r\n\r\n")) }, "failed_response"},
		"500": {func(t testing.TB) string {
			return behave(t, saying("HTTP/1.1 500 No\r\nContent-Length: 10200\r\n\r\n"+page))
		}, "sent_5xx"},
		"line feeds alone": {func(t testing.TB) string { return behave(t, saying("HTTP/1.1 200 OK\nContent-Length: 2\n\nok")) }, "sent_2xx"},
		"a large header": {func(t testing.TB) string {
			return behave(t, saying("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 70_000)+"\r\nContent-Length: 2\r\n\r\nok"))
		}, "sent_2xx"},
		"a forbidden trailer": {func(t testing.TB) string {
			return behave(t, saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 2\r\n\r\n"))
		}, "sent_2xx"},
		"a length twice": {func(t testing.TB) string {
			return behave(t, saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"))
		}, "sent_2xx"},
		"misses a certificate": {func(t testing.TB) string {
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13}
			server.Config.ErrorLog = quiet()
			server.StartTLS()
			t.Cleanup(server.Close)
			return server.URL
		}, "failed_tls"},
		"404": {func(t testing.TB) string { return behave(t, saying("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")) }, "sent_4xx"},
		"redirects": {func(t testing.TB) string {
			return behave(t, saying("HTTP/1.1 302 Go\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"))
		}, "sent_3xx"},
		"interim":  {func(t testing.TB) string { return behave(t, saying("HTTP/1.1 103 H\r\n\r\nHTTP/1.1 204 No\r\n\r\n")) }, "sent_2xx"},
		"switches": {func(t testing.TB) string { return behave(t, saying("HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n")) }, "sent_1xx"},
		"endless":  {func(t testing.TB) string { return behave(t, answering(endless)) }, "sent_2xx"},
		"early answer": {func(t testing.TB) string {
			return behave(t, func(c net.Conn) {
				io.WriteString(c, "HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			})
		}, "sent_4xx"},
	} {
		t.Run(name, func(t *testing.T) {
			goroutines := runtime.NumGoroutine()
			t.Run("run", func(t *testing.T) {
				primary := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("X-Primary", "yes")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"ok":true}`)
				})
				shadow := tc.shadow(t)
				timeout := "timeout 1m" // also a busy machine has to manage every exchange
				if tc.outcome == timesOut {
					timeout = "timeout 200ms"
				}
				_, addr := run(t, func(addr string) string { return teeSite(t, addr, primary.addr(), shadow, timeout+insecure(shadow)) })
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
				t.Cleanup(client.CloseIdleConnections)
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						for range requests / 10 {
							resp, err := client.Post("http://"+addr, "text/plain", strings.NewReader(strings.Repeat("b", 10<<10)))
							if err != nil {
								t.Error(err)
								return
							}
							body, err := io.ReadAll(resp.Body)
							resp.Body.Close()
							if err != nil || resp.StatusCode != 400 || string(body) != `{"ok":true}` || resp.Header.Get("X-Primary") != "yes" {
								t.Errorf("client got %d %q %v, error %v", resp.StatusCode, body, resp.Header, err)
							}
						}
					})
				}
				wg.Wait()
				if counts := waitAccounted(t, shadow, requests); counts[tc.outcome] != requests {
					t.Errorf("outcomes are %v, want %d %s", counts, requests, tc.outcome)
				}
			})
			eventually(t, "goroutines to end", func() (string, bool) {
				n := runtime.NumGoroutine()
				return fmt.Sprint(n, " of ", goroutines), n <= goroutines+5
			})
		})
	}
}

func TestQueueOverflowIsDroppedAndCounted(t *testing.T) {
	release := make(chan struct{})
	shadow := newUpstream(t, func(http.ResponseWriter, *http.Request) { <-release })
	server, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\ntimeout 20s\nconcurrency 2\nqueue 3\n}\nrespond ok", shadow.URL, teeName(t)))
	})
	for range 20 {
		if status, body := get(t, http.DefaultClient, "http://"+addr); status != 200 || body != "ok" {
			t.Errorf("client got %d %q", status, body)
		}
	}
	waitOutcome(t, shadow.URL, "dropped_queue", 15)
	gauge(t, collectors.queued, shadow.URL, 3)
	gauge(t, collectors.inFlight, shadow.URL, 2)
	close(release)
	waitOutcome(t, shadow.URL, "sent_2xx", 5)
	gauge(t, collectors.queued, shadow.URL, 0)
	gauge(t, collectors.inFlight, shadow.URL, 0)
	if n := strings.Count(server.Logs(), "dropping copies"); n != 1 {
		t.Errorf("the overflow was logged %d times, want once", n)
	}
}

// slowExchanger takes until the deadline.
type slowExchanger struct{ exchanges int }

func (e *slowExchanger) exchange(_ *snapshot, deadline time.Time, _ *keptResponse) (int, error) {
	e.exchanges++
	time.Sleep(time.Until(deadline))
	return 0, context.DeadlineExceeded
}

func (e *slowExchanger) close() {}

func TestDeadlineCountsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Handler{name: teeName(t), Concurrency: 1, timeout: time.Second, logger: zap.NewNop()}
		slow := new(slowExchanger)
		h.addShadow("slow", slow)
		start := time.Now()
		for range 10 {
			copied := &snapshot{memory: new(memory)}
			copied.holders.Store(1)
			h.send(copied)
		}
		h.shadows[0].queue.waitIdle(start.Add(time.Hour))
		if took := time.Since(start); slow.exchanges != 1 || took < time.Second || took > time.Second+mostRest {
			t.Errorf("%d exchanges took %v, want one and nothing after its deadline", slow.exchanges, time.Since(start))
		}
		if counts := outcomesOf(t, "slow"); counts["timed_out"] != 10 {
			t.Errorf("outcomes are %v", counts)
		}
	})
}

// lateExchanger notes when exchanges begin and never has an answer in time.
type lateExchanger struct {
	mu     sync.Mutex
	begins map[time.Time]int
}

func (e *lateExchanger) exchange(_ *snapshot, deadline time.Time, _ *keptResponse) (int, error) {
	e.mu.Lock()
	e.begins[time.Now()]++
	e.mu.Unlock()
	time.Sleep(time.Until(deadline))
	return 0, context.DeadlineExceeded
}

func (e *lateExchanger) close() {}

// TestWorkersOfALateShadowDoNotComeAtOnce has all of them wait for the same
// time, and looks at when they begin again.
func TestWorkersOfALateShadowDoNotComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 50
		late := &lateExchanger{begins: make(map[time.Time]int)}
		h := &Handler{name: teeName(t), Concurrency: workers, timeout: time.Second, logger: zap.NewNop()}
		h.addShadow("late", late)
		sendAll := func() {
			for range workers {
				copied := &snapshot{memory: new(memory)}
				copied.holders.Store(1)
				h.send(copied)
			}
		}
		sendAll()
		time.Sleep(time.Second + time.Nanosecond) // all have given up, and most rest
		sendAll()
		h.shadows[0].queue.waitIdle(time.Now().Add(time.Hour))
		total, most := 0, 0
		for begin, n := range late.begins {
			total += n
			if !begin.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) { // when the test began
				most = max(most, n)
			}
		}
		if total != 2*workers || most > workers/10 {
			t.Errorf("%d exchanges, up to %d began at once after a rest", total, most)
		}
	})
}

// One keep-alive client gets its answers while the shadow has the copies still.
func TestSlowShadowStallsNobody(t *testing.T) {
	release := make(chan struct{})
	shadow := newUpstream(t, func(http.ResponseWriter, *http.Request) { <-release })
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\ntimeout 20s\n}\nrespond ok", shadow.URL, teeName(t)))
	})
	conn, br := dial(t, addr)
	for range 2 {
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", addr)
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, resp)
	}
	shadow.wait(2)
	close(release)
	waitOutcome(t, shadow.URL, "sent_2xx", 2)
}

func TestFailuresAreLoggedOnceAMinute(t *testing.T) {
	server, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\n}\nrespond ok", refusing, teeName(t)))
	})
	for range 20 {
		get(t, http.DefaultClient, "http://"+addr)
	}
	waitOutcome(t, refusing, "failed_connect", 20)
	logs := server.Logs()
	if n := strings.Count(logs, `"msg":"sending copy"`); n != 1 || !strings.Contains(logs, `"shadow":"`+refusing+`"`) {
		t.Errorf("20 failures were logged %d times, want once, with the shadow's name:\n%s", n, logs)
	}
}

// A server that closes idle connections, and does not say so before, costs no
// copy however soon the next one comes.
func TestClosedIdleConnectionsAreNoticed(t *testing.T) {
	shadow := behave(t, func(conn net.Conn) {
		defer conn.Close()
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	_, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\ntimeout 20s\n}\nrespond ok", shadow, teeName(t)))
	})
	for i := range 20 {
		get(t, http.DefaultClient, "http://"+addr)
		waitOutcome(t, shadow, "sent_2xx", i+1)
		time.Sleep(5 * time.Millisecond) // in which the connection ends
	}
}
