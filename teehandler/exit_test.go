// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/caddy-rehearsal/rehearsal"
	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

const patience = 30 * time.Second

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// recordingSite has a shadow that records what it gets, one request at a time
// and none at once.
func recordingSite(addr, dir, answer string) string {
	return fmt.Sprintf(`http://%s {
	tee {
		timeout 20s
		concurrency 1
		handle {
			test_trouble late
			blackhole {
				record %s
			}
		}
	}
	respond %q
}
`, addr, dir, answer)
}

// recorded counts the records in the finished files of a directory.
func recorded(t *testing.T, dir string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.lz4"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := recording.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for {
			_, err := file.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			n++
		}
		file.Close()
	}
	return n
}

func visit(t *testing.T, addr string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// What waits for a blackhole is recorded, although its configuration is gone.
func TestRecordsOfAReplacedConfigurationArrive(t *testing.T) {
	addr, dir := caddytest.Addr(t), t.TempDir()
	server := caddytest.Run(t, recordingSite(addr, dir, "old"))
	const requests = 5
	for range requests {
		visit(t, addr)
	}
	server.Reload("http://" + addr + " {\n\trespond new\n}\n")
	for deadline := time.Now().Add(patience); recorded(t, dir) < requests; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d requests were recorded", recorded(t, dir), requests)
		}
	}
}

// startCaddy runs a Caddy that can load another configuration and exit, which
// returns what it has logged.
func startCaddy(t *testing.T, addr, caddyfile string) (reload func(caddyfile string), exit func() (logs string)) {
	t.Helper()
	config, admin := filepath.Join(t.TempDir(), "Caddyfile"), caddytest.Addr(t)
	options := "{\n\tadmin " + admin + "\n\tpersist_config off\n}\n"
	if err := os.WriteFile(config, []byte(options+caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	process := caddytest.Command(t, "run", "--config", config)
	var logs bytes.Buffer
	process.Stderr = &logs
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- process.Wait() }()
	t.Cleanup(func() { _ = process.Process.Kill() })
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("Caddy does not start")
		}
	}
	reload = func(caddyfile string) {
		resp, err := http.Post("http://"+admin+"/load", "text/caddyfile", strings.NewReader(options+caddyfile))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("loading another configuration: %s: %s", resp.Status, text)
		}
	}
	return reload, func() string {
		if err := process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-exited:
			if err != nil {
				t.Errorf("Caddy exited with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("Caddy does not exit")
		}
		return logs.String()
	}
}

// otherSite is a configuration without a tee.
func otherSite(addr string) string { return "http://" + addr + " {\n\trespond new\n}\n" }

// Caddy exits when the copies that it has accepted are sent, also those of
// configurations that have been replaced.
func TestExitWaitsForCopies(t *testing.T) {
	for _, reloads := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(reloads), func(t *testing.T) {
			var copies atomic.Int64
			shadow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				time.Sleep(100 * time.Millisecond)
				copies.Add(1)
			}))
			t.Cleanup(shadow.Close)
			addr := caddytest.Addr(t)
			site := func(n int) string {
				return fmt.Sprintf("http://%s {\n\ttee %s {\n\t\ttimeout 20s\n\t\tconcurrency 1\n\t\theader_up X-N %d\n\t}\n\trespond ok\n}\n", addr, shadow.URL, n)
			}
			reload, exit := startCaddy(t, addr, site(0))
			const requests = 5
			for n := range reloads + 1 {
				for range requests {
					visit(t, addr)
				}
				if n < reloads-1 {
					reload(site(n + 1))
				}
			}
			if reloads > 0 {
				reload(otherSite(addr))
			}
			exit()
			if n := copies.Load(); n != requests*int64(reloads+1) {
				t.Errorf("%d of %d copies were sent", n, requests*(reloads+1))
			}
		})
	}
}

// The handlers of a shadow are there until its last copy is done.
func TestExitWaitsForRecords(t *testing.T) {
	for name, replaced := range map[string]bool{"running": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			addr, dir := caddytest.Addr(t), t.TempDir()
			reload, exit := startCaddy(t, addr, recordingSite(addr, dir, "ok"))
			const requests = 5
			for range requests {
				visit(t, addr)
			}
			if replaced {
				reload(otherSite(addr))
			}
			exit()
			if n := recorded(t, dir); n != requests {
				t.Errorf("%d of %d requests were recorded", n, requests)
			}
		})
	}
}

// TestExitWaitsForConversations has Caddy exit while requests are served.
func TestExitWaitsForConversations(t *testing.T) {
	const requests = 5
	arrived, respond := make(chan struct{}, requests), make(chan struct{})
	primary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- struct{}{}
		<-respond
		_, _ = w.Write(body)
	}))
	t.Cleanup(primary.Close)
	addr, dir := caddytest.Addr(t), t.TempDir()
	_, exit := startCaddy(t, addr, fmt.Sprintf("http://%s {\n\ttee {\n\t\trecord %s\n\t}\n\treverse_proxy %s\n}\n", addr, dir, primary.URL))
	sent := strings.Repeat("as large as takes a while", 10_000)
	var clients sync.WaitGroup
	for range requests {
		clients.Go(func() {
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Post("http://"+addr, "", strings.NewReader(sent))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != sent {
				t.Errorf("client got %d bytes, error %v", len(got), err)
			}
		})
	}
	for range requests {
		select {
		case <-arrived:
		case <-time.After(patience):
			t.Fatal("requests do not arrive")
		}
	}
	clients.Go(func() { exit() })
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			break // it shuts down
		}
		conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("Caddy goes on listening")
		}
	}
	close(respond)
	clients.Wait()
	if n := recorded(t, dir); n != requests {
		t.Errorf("%d of %d conversations are recorded", n, requests)
	}
}

// TestExitWaitsForPairs has Caddy exit while shadows have not responded: what
// they respond in time is compared and saved, and the rest counted.
func TestExitWaitsForPairs(t *testing.T) {
	for name, replaced := range map[string]bool{"running": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			shadow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/never" {
					<-r.Context().Done()
					return
				}
				time.Sleep(500 * time.Millisecond)
				_, _ = io.WriteString(w, "other")
			}))
			t.Cleanup(shadow.Close)
			addr, dir := caddytest.Addr(t), t.TempDir()
			reload, exit := startCaddy(t, addr, fmt.Sprintf(
				"http://%s {\n\ttee %s {\n\t\ttimeout 5s\n\t\tcompare {\n\t\t\tsave %s\n\t\t}\n\t}\n\trespond ok\n}\n", addr, shadow.URL, dir))
			const requests = 10
			for range requests - 1 {
				visit(t, addr)
			}
			visit(t, addr+"/never")
			if replaced {
				reload(otherSite(addr))
			}
			logs := exit()
			var counted int
			if _, after, ok := strings.Cut(logs, `some pairs of responses were not compared","pairs":`); ok {
				if _, err := fmt.Sscanf(after, "%d", &counted); err != nil {
					t.Error(err)
				}
			}
			for _, side := range []string{"old", "new"} {
				if saved := recorded(t, filepath.Join(dir, side)); saved == 0 || counted == 0 || saved+counted != requests {
					t.Errorf("%s: %d pairs saved and %d counted of %d: %s", side, saved, counted, requests, logs)
				}
			}
		})
	}
}

// TestExitWaitsForNoUnfinishedUpload has Caddy exit while a client that has its
// response goes on with its body, piece by piece and without an end.
func TestExitWaitsForNoUnfinishedUpload(t *testing.T) {
	var copies atomic.Int64
	shadow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { copies.Add(1) }))
	t.Cleanup(shadow.Close)
	addr := caddytest.Addr(t)
	_, exit := startCaddy(t, addr, fmt.Sprintf("http://%s {\n\ttee %s\n\theader Content-Length 2\n\trespond no 413\n}\n", addr, shadow.URL))
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", addr, 900<<10)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || string(body) != "no" {
		t.Fatalf("client got %d %q, error %v", resp.StatusCode, body, err)
	}
	go func() {
		for _, err := conn.Write([]byte("0")); err == nil; _, err = conn.Write([]byte("0")) {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	start := time.Now()
	exit()
	if took := time.Since(start); took > 5*time.Second { // of 10 for which such a client is listened to
		t.Errorf("the exit took %v", took)
	}
	if n := copies.Load(); n != 0 {
		t.Errorf("%d copies of an unfinished request were sent", n)
	}
}
