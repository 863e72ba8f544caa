// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// load sends requests from several connections until it is told to stop, and
// keeps account of those that were answered.
type load struct {
	mu       sync.Mutex
	answered map[string][32]byte // hash of the body by ID
	done     chan struct{}
	senders  sync.WaitGroup
}

func startLoad(t *testing.T, url string) *load {
	l := &load{answered: make(map[string][32]byte), done: make(chan struct{})}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 10}}
	for sender := range 10 {
		l.senders.Go(func() {
			defer client.CloseIdleConnections()
			for i := 0; ; i++ {
				select {
				case <-l.done:
					return
				default:
				}
				id := fmt.Sprintf("%d-%d", sender, i)
				body := make([]byte, 2048)
				_, _ = rand.Read(body)
				request, _ := http.NewRequest("POST", url, bytes.NewReader(body))
				request.Header.Set("X-Request-ID", id)
				resp, err := client.Do(request)
				if err != nil {
					continue // a connection that a reload has closed
				}
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("got status %d", resp.StatusCode)
				}
				l.mu.Lock()
				l.answered[id] = sha256.Sum256(body)
				l.mu.Unlock()
			}
		})
	}
	return l
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answered)
}

func (l *load) stop() {
	close(l.done)
	l.senders.Wait()
}

// written reports whether all that was answered is in whole files: a recorder
// that was replaced writes what came late when the last request has left it.
func (l *load) written(t *testing.T, dir string) bool {
	t.Helper()
	ids := make(map[string]bool)
	for _, path := range files(t, dir) {
		f, err := recording.OpenFile(path)
		if err != nil {
			return false
		}
		defer f.Close()
		if strings.HasSuffix(path, ".tmp") {
			return false
		}
		r, err := f.Next()
		for ; err == nil; r, err = f.Next() {
			ids[string(r.ID)] = true
		}
	}
	for id := range l.answered {
		if !ids[id] {
			return false
		}
	}
	return true
}

// check holds what was answered against what is recorded.
func (l *load) check(t *testing.T, dir string) {
	t.Helper()
	recorded := make(map[string][32]byte)
	for _, r := range records(t, dir) {
		if _, twice := recorded[r.id]; twice {
			t.Errorf("%s is recorded twice", r.id)
		}
		recorded[r.id] = sha256.Sum256([]byte(r.body))
	}
	missing := 0
	for id, sum := range l.answered {
		if recorded[id] != sum {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("of %d requests answered %d are not recorded as they were", len(l.answered), missing)
	}
}

func TestNothingIsLostByReloadsAndStop(t *testing.T) {
	for name, options := range map[string]func(i int) string{
		"same recorder": func(int) string { return "" },
		"another each":  func(i int) string { return fmt.Sprintf("flush_every %dms", 500+i) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			addr := caddytest.Addr(t)
			config := func(i int) string {
				return site(addr, fmt.Sprintf("header X-Reload %d\nblackhole {\nrecord %s {\n%s\n}\n}", i, dir, options(i)))
			}
			s := caddytest.Run(t, config(0))
			l := startLoad(t, "http://"+addr+"/")
			for i := range 20 {
				before := l.count()
				eventually(t, "requests are answered", func() bool { return l.count() > before+20 })
				s.Reload(config(i + 1))
			}
			l.stop()
			stop(t)
			eventually(t, "all is written", func() bool { return l.written(t, dir) })
			l.check(t, dir)
		})
	}
}

// TestRequestThatOutlivesItsConfiguration begins before a reload and ends after it.
func TestRequestThatOutlivesItsConfiguration(t *testing.T) {
	old, next := t.TempDir(), t.TempDir()
	s, addr := start(t, "blackhole {\nrecord "+old+"\n}")
	release := make(chan struct{})
	answered := make(chan int)
	go func() {
		resp, err := http.Post("http://"+addr+"/", "", &gate{first: strings.NewReader("abc"), open: release, second: strings.NewReader("def")})
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	eventually(t, "the request is in the handler", func() bool { return inUse(t) })
	s.Reload(site(addr, "blackhole {\nrecord "+next+"\n}"))
	close(release)
	if status := <-answered; status != 200 {
		t.Errorf("got status %d", status)
	}
	eventually(t, "the file is finished", func() bool {
		names := files(t, old)
		return len(names) == 1 && !strings.HasSuffix(names[0], ".tmp")
	})
	if got := one(t, old); got.body != "abcdef" || got.err != "" {
		t.Errorf("got %+v", got)
	}
}

// gate is a body of which the second half comes when it is open.
type gate struct {
	first, second *strings.Reader
	open          chan struct{}
}

func (g *gate) Read(p []byte) (int, error) {
	if g.first.Len() > 0 {
		return g.first.Read(p)
	}
	<-g.open
	return g.second.Read(p)
}

// inUse reports whether a handler is recording a request.
func inUse(t *testing.T) bool {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Contains(stacks, []byte("(*Draft).ReadBody"))
}

func TestRestartAndSharedDirectoryOverwriteNothing(t *testing.T) {
	dir := t.TempDir()
	first, second := caddytest.Addr(t), caddytest.Addr(t)
	both := "blackhole {\nrecord " + dir + "\n}"
	want := 0
	for range 3 {
		caddytest.Run(t, site(first, both)+site(second, "blackhole {\nname other\nrecord "+dir+"\n}"))
		for _, addr := range []string{first, second, first} {
			post(t, "http://"+addr+"/", "x")
			want++
		}
		stop(t)
	}
	if got := len(records(t, dir)); got != want {
		t.Errorf("got %d records, want %d", got, want)
	}
	if got := len(files(t, dir)); got != 6 {
		t.Errorf("got %d files, want 6", got)
	}
}

func TestMovedFileIsFollowedByAFreshOneAfterAReload(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	s, addr := start(t, "blackhole {\nrecord "+dir+" {\nflush_every 10ms\n}\n}")
	post(t, "http://"+addr+"/", "1")
	eventually(t, "a file", func() bool { return len(files(t, dir)) == 1 && size(t, files(t, dir)[0]) > 0 })
	if err := os.Rename(files(t, dir)[0], filepath.Join(other, "moved.fbf.lz4")); err != nil {
		t.Fatal(err)
	}
	s.Reload(site(addr, "header X-Reload 1\nblackhole {\nrecord "+dir+" {\nflush_every 10ms\n}\n}"))
	post(t, "http://"+addr+"/", "2")
	stop(t)
	if got := one(t, dir); got.body != "2" {
		t.Errorf("got %+v", got)
	}
	if got := one(t, other); got.body != "1" {
		t.Errorf("got %+v", got)
	}
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestReloadsLeaveNothingRunning(t *testing.T) {
	dir := t.TempDir()
	addr := caddytest.Addr(t)
	configs := []string{
		site(addr, "blackhole {\nrecord "+dir+"/a\n}"),
		site(addr, "blackhole {\nrecord "+dir+"/b {\ncompression none\n}\n}"),
	}
	s := caddytest.Run(t, configs[0])
	cycle := func() {
		for _, config := range configs {
			s.Reload(config)
			post(t, "http://"+addr+"/", "x")
		}
	}
	cycle()
	routines, descriptors := runtime.NumGoroutine(), openFiles(t)
	for range 25 {
		cycle()
	}
	eventually(t, fmt.Sprintf("about %d goroutines and %d files", routines, descriptors), func() bool {
		return runtime.NumGoroutine() <= routines+5 && openFiles(t) <= descriptors+5
	})
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestStopIsQuickWhileNothingHappens(t *testing.T) {
	dir := t.TempDir()
	_, addr := start(t, "blackhole {\nrecord "+dir+" {\nflush_every 1h\n}\n}")
	post(t, "http://"+addr+"/", "x")
	begun := time.Now()
	stop(t)
	if took := time.Since(begun); took > 9*time.Second { // an idle recorder has nothing to be patient about
		t.Errorf("took %s", took)
	}
	one(t, dir)
}
