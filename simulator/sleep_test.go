// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// TestMain runs all tests on Caddy's path and again on the express path. It
// lets the test binary be a Caddy of its own, with its own process to exit from.
func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	failed := m.Run()
	expressIsOn = true
	os.Exit(failed | m.Run())
}

// TestSleepersHoldNobodyUp holds a thousand connections in a slow stage, while
// another route and the recipe API answer, and counts the goroutines that are
// left when the clients have gone.
func TestSleepersHoldNobodyUp(t *testing.T) {
	_, url := serve(t, "simulator {\n admin\n route /fast {\n stage 0 200\n }\n stage 0 200 1h\n}")
	wantStatus(t, url+"/fast", 200)
	before := runtime.NumGoroutine()
	const sleepers = 1000
	conns := make([]net.Conn, sleepers)
	for i := range conns {
		conns[i] = dial(t, url)
		fmt.Fprintf(conns[i], "POST /slow HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\nhi")
	}
	asleep := func() bool {
		return strings.Contains(body(t, url+"/_admin/current_count"), fmt.Sprintf(`"/*":{"200":%d,`, sleepers))
	}
	eventually(t, asleep)
	for range 20 {
		wantStatus(t, url+"/fast", 200)
		wantStatus(t, url+"/_admin/routes_status", 200)
	}
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, func() bool { return runtime.NumGoroutine() < before+50 })
}

func body(t testing.TB, url string) string {
	t.Helper()
	_, body := get(t, url)
	return body
}

// TestLatencyIsTimeToTheFirstByte holds for one kept connection on which the
// recipe changes.
func TestLatencyIsTimeToTheFirstByte(t *testing.T) {
	_, url := serve(t, "simulator {\n admin\n}")
	conn := dial(t, url)
	in := bufio.NewReader(conn)
	for _, latency := range []time.Duration{0, 150 * time.Millisecond, 60 * time.Millisecond} {
		recipe := fmt.Sprintf(`{"body":"x","stages":[{"latency":"%v"}]}`, latency)
		if status, body := post(t, url+"/_admin/add_recipe", recipe); status != 201 {
			t.Fatalf("got %d %s", status, body)
		}
		begin := time.Now()
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin)
		if _, body := read(t, resp); body != "x" || took < latency {
			t.Errorf("a latency of %v took %v and gave %q", latency, took, body)
		}
	}
}

// TestOldRequestsOutliveTheirConfiguration holds that a request which sleeps
// through a reload and the end of its scenario is answered as it was decided.
func TestOldRequestsOutliveTheirConfiguration(t *testing.T) {
	addr := caddytest.Addr(t)
	config := func(body string) string {
		return site(addr, "simulator {\n admin\n body "+body+"\n stage 0 200 400ms\n}")
	}
	s := caddytest.Run(t, config("old"))
	got := make(chan string)
	go func() { got <- body(t, "http://"+addr) }()
	eventually(t, func() bool { counts, _ := all()[0].Counted(); return counts.Total() == 1 })
	s.Reload(config("new"))
	if old := <-got; old != "old" {
		t.Errorf("got %q", old)
	}
	eventually(t, func() bool { return body(t, "http://"+addr) == "new" })
}

// TestExitWakesSleepers holds that Caddy's end waits for no latency.
func TestExitWakesSleepers(t *testing.T) {
	addr := caddytest.Addr(t)
	file := filepath.Join(t.TempDir(), "Caddyfile")
	config := "{\n admin off\n persist_config off\n}\n" + site(addr, "simulator {\n stage 0 200 1h\n}")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	process := caddytest.Command(t, "run", "--config", file)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- process.Wait() }()
	defer func() { _ = process.Process.Kill() }()
	eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	var clients sync.WaitGroup
	for range 3 {
		conn := dial(t, "http://"+addr)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		clients.Go(func() {
			if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("got an answer: %d bytes, %v", n, err)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // for the requests to be under way; if one is not, the test is only easier
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-exited:
		if err != nil {
			t.Errorf("it exited with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not exit")
	}
	clients.Wait()
}
