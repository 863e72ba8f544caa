// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package blackhole

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

// asAdobe returns what a reader like adobe/blackhole's replay makes of files,
// by the id of the request.
func asAdobe(t *testing.T, files []string) map[string]string {
	t.Helper()
	command := exec.Command("go", append([]string{"run", "."}, files...)...)
	command.Dir = "../internal/recording/adobe"
	var errors strings.Builder
	command.Stderr = &errors
	out, err := command.Output()
	if err != nil {
		t.Fatalf("reading as adobe/blackhole: %v\n%s", err, &errors)
	}
	all := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[id] = rest
	}
	return all
}

// adobesView is the line that asAdobe is to return for a request of sendNumbered.
func adobesView(i int, body string) string {
	return fmt.Sprintf("POST /orders/%d?q=a;b %d %d %x", i, 7, len(body), sha256.Sum256([]byte(body)))
}

// sendNumbered sends requests of many sizes and returns what is to be recorded
// of them, by their id.
func sendNumbered(t *testing.T, addr string, first, count int) map[string]string {
	t.Helper()
	want := make(map[string]string)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := first; i < first+count; i++ {
		body := strings.Repeat(fmt.Sprintf("item %d ", i), 1+i*i%997)
		if i%50 == 49 {
			body = strings.Repeat("0123456789abcdef", 50_000) // larger than a block
		}
		request, err := http.NewRequest("POST", fmt.Sprintf("http://%s/orders/%d?q=a;b", addr, i), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint("order-", i)
		request.Header = http.Header{"X-Request-Id": {id}, "X-Tag": {"one", "two"}, "User-Agent": {"test"}, "Accept-Encoding": {"identity"}}
		resp, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		want[id] = adobesView(i, body)
	}
	return want
}

// TestAdobeReadsOurFiles holds that adobe/blackhole's replay can read what is
// recorded on either path, compressed and not, rotated, and repaired after the
// process was killed.
func TestAdobeReadsOurFiles(t *testing.T) {
	for _, compression := range []string{"lz4", "lz4 9", "none"} {
		t.Run(compression, func(t *testing.T) {
			dir := t.TempDir()
			addr := caddytest.Addr(t)
			directives := "blackhole {\nrecord " + dir + " {\ncompression " + compression + "\nflush_every 20ms\nrotate_size 20KB\n}\n}"
			config := filepath.Join(t.TempDir(), "Caddyfile")
			if err := os.WriteFile(config, []byte("{\nadmin off\npersist_config off\n}\n"+site(addr, directives)), 0o600); err != nil {
				t.Fatal(err)
			}
			process := caddytest.Command(t, "run", "--config", config)
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "Caddy runs", func() bool {
				resp, err := http.Get("http://" + addr + "/")
				if err == nil {
					resp.Body.Close()
				}
				return err == nil
			})
			http.DefaultClient.CloseIdleConnections()
			want := sendNumbered(t, addr, 0, 120)
			eventually(t, "all is on disk", func() bool { return recordsSoFar(t, dir) == 121 })
			if err := process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = process.Wait() // says that it was killed
			if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) != 1 {
				t.Errorf("got %q left behind", left)
			}
			caddytest.Run(t, site(addr, directives))
			for id, line := range sendNumbered(t, addr, 120, 30) {
				want[id] = line
			}
			stop(t)
			recordings := files(t, dir)
			if i := slices.IndexFunc(recordings, func(name string) bool { return strings.HasSuffix(name, ".tmp") }); i >= 0 || len(recordings) < 3 {
				t.Errorf("got files %q", recordings)
			}
			got := asAdobe(t, recordings)
			for id, line := range want {
				if got[id] != line {
					t.Errorf("%s is read as %s, want %s", id, got[id], line)
				}
			}
			if len(got) != len(want)+1 { // and the first, by which Caddy was awaited
				t.Errorf("got %d requests, want %d", len(got), len(want)+1)
			}
			if keep := os.Getenv("KEEP_RECORDINGS"); keep != "" { // to have another reader look at them
				if err := os.CopyFS(filepath.Join(keep, fmt.Sprintf("%s, express %v", compression, expressIsOn)), os.DirFS(dir)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// recordsSoFar returns how many records are in the files of a directory, whole
// and not.
func recordsSoFar(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, path := range files(t, dir) {
		f, err := recording.OpenFile(path)
		if err != nil { // renamed a moment ago
			continue
		}
		for _, err = f.Next(); err == nil; _, err = f.Next() {
			n++
		}
		f.Close()
	}
	return n
}
