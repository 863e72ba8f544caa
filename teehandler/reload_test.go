// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// Copies that were accepted before a reload are sent after it, by URL and by
// handlers, the waiting ones too.
func TestReloadLosesNoAcceptedCopy(t *testing.T) {
	release := make(chan struct{})
	hold := func(w http.ResponseWriter, _ *http.Request) { <-release }
	byURL, byHandler := newUpstream(t, hold), newUpstream(t, hold)
	server, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\ntimeout 20s\nconcurrency 2\nhandle {\nreverse_proxy %s\n}\n}\nrespond ok", byURL.URL, teeName(t), byHandler.addr()))
	})
	for range 10 {
		get(t, http.DefaultClient, "http://"+addr)
	}
	server.Reload(site(addr, "respond new"))
	eventually(t, "the new configuration", func() (string, bool) {
		_, body := get(t, oneShot, "http://"+addr)
		return body, body == "new"
	})
	close(release)
	for shadow, u := range map[string]*upstream{byURL.URL: byURL, "handle": byHandler} {
		waitOutcome(t, shadow, "sent_2xx", 10)
		if n := u.count(); n != 10 {
			t.Errorf("%s got %d copies, want 10", shadow, n)
		}
		gauge(t, collectors.queued, shadow, 0)
		gauge(t, collectors.inFlight, shadow, 0)
	}
}

// Clients come and go while Caddy reloads. Connections that the old listener
// had not accepted yet are reset when it closes, also where reverse_proxy stands
// alone; every answer has to be right, and every request answered has its copy.
func TestReloadUnderLoad(t *testing.T) {
	primary, shadow := newUpstream(t, nil), newUpstream(t, nil)
	config := func(addr string, n int) string {
		return teeSite(t, addr, primary.addr(), shadow.URL, fmt.Sprintf("timeout 20s\nheader_up X-Config %d", n))
	}
	server, addr := run(t, func(addr string) string { return config(addr, 0) })
	var answered atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				sent := strings.Repeat("x", i%5000)
				resp, err := oneShot.Post("http://"+addr, "", strings.NewReader(sent))
				if err != nil {
					continue
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || string(body) != sumOf(sent) {
					t.Errorf("client got %d %q, error %v", resp.StatusCode, body, err)
				}
				answered.Add(1)
			}
		})
	}
	for n := range 10 {
		before := answered.Load()
		eventually(t, "requests between reloads", func() (string, bool) { return "", answered.Load() > before+20 })
		server.Reload(config(addr, n+1))
	}
	close(stop)
	wg.Wait()
	eventually(t, "all copies", func() (string, bool) {
		return fmt.Sprint(outcomesOf(t, shadow.URL), " of ", answered.Load()), int64(shadow.count()) >= answered.Load()
	})
	eventually(t, "an outcome for every copy", func() (string, bool) {
		counts := outcomesOf(t, shadow.URL)
		return fmt.Sprint(counts, " of ", shadow.count()), len(counts) == 1 && counts["sent_2xx"] == shadow.count()
	})
}

func TestReloadsLeaveNothingRunning(t *testing.T) {
	shadow := newUpstream(t, nil)
	addr := caddytest.Addr(t)
	config := func(n int) string {
		return site(addr, fmt.Sprintf("tee %s {\nconcurrency %d\nhandle {\nrespond shadow\n}\n}\nrespond ok", shadow.URL, n))
	}
	server := caddytest.Run(t, config(1))
	reload := func(n int) {
		server.Reload(config(n))
		get(t, oneShot, "http://"+addr)
	}
	reload(2)
	before := runtime.NumGoroutine()
	for n := range 20 {
		reload(n + 3)
	}
	shadow.CloseClientConnections() // their goroutines are the shadow's
	eventually(t, "goroutines to end", func() (string, bool) {
		n := runtime.NumGoroutine()
		return fmt.Sprint(n, " of ", before), n <= before+10
	})
}

func TestMetricsOfTwoSitesSurviveReloads(t *testing.T) {
	shadow := newUpstream(t, nil)
	a, b, admin := caddytest.Addr(t), caddytest.Addr(t), caddytest.Addr(t)
	config := "{\nadmin " + admin + "\n}\n"
	for _, addr := range []string{a, b} {
		config += site(addr, fmt.Sprintf("tee %s %s {\nname %s\n}\nrespond ok", shadow.URL, shadow.URL, teeName(t)))
	}
	server := caddytest.Run(t, config)
	for i := range 3 {
		get(t, oneShot, "http://"+a)
		get(t, oneShot, "http://"+b)
		waitOutcome(t, shadow.URL, "sent_2xx", 4*(i+1))
		line := fmt.Sprintf(`caddy_tee_copies_total{outcome="sent_2xx",shadow="%s",tee="%s"} %d`, shadow.URL, teeName(t), 4*(i+1))
		eventually(t, "the metrics page", func() (string, bool) {
			_, page := get(t, oneShot, "http://"+admin+"/metrics")
			return line, strings.Count(page, line+"\n") == 1
		})
		server.Reload(config + fmt.Sprintf("http://localhost:1%d {\nbind 127.0.0.1\n}\n", 7000+i))
	}
}

// A server that shuts down closes connections behind their responses, and reads
// no unread body before.
func TestAnswersOfAServerThatShutsDownWaitForNoBody(t *testing.T) {
	shadow := newUpstream(t, nil)
	server, addr := run(t, func(addr string) string {
		return site(addr, fmt.Sprintf("tee %s {\nname %s\n}\ntest_trouble \"await shutdown\"\nrespond no 401", shadow.URL, teeName(t)))
	})
	conn, br := dial(t, addr)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 100\r\n\r\nabc")
	next(t, awaiting)
	server.Reload(site(addr, "respond new"))
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := drain(t, resp); status != 401 || body != "no" || !resp.Close {
		t.Errorf("client got %d %q, connection closed %v", status, body, resp.Close)
	}
	waitOutcome(t, shadow.URL, "dropped_body_incomplete", 1)
}

// A tee that nothing stands behind is valid, and hardly what was meant.
func TestATeeWithoutAPrimaryIsWarnedOf(t *testing.T) {
	const warning = "no handler stands behind this tee"
	for options, want := range map[string]int{
		"tee %s":                             1,
		"tee %s\nrespond ok":                 0,
		"tee %s\nhandle /a {\nrespond ok\n}": 0,
		"handle /a {\ntee %s\n}\nhandle {\nrespond b\n}": 1,
		"handle /a {\ntee %s\nrespond a\n}":              0,
		"route {\ntee %s\ntee %s\n}":                     1,
		"route {\ntee %s\nfile_server\n}":                0,
		"route {\nrespond ok\ntee %s\n}":                 1,
	} {
		server, addr := run(t, func(addr string) string { return site(addr, strings.ReplaceAll(options, "%s", refusing)) })
		get(t, oneShot, "http://"+addr+"/a")
		if n := strings.Count(server.Logs(), warning); n != want {
			t.Errorf("%s: warned %d times, want %d", options, n, want)
		}
	}
}
