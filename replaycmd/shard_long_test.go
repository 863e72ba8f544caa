// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package replaycmd

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// TestShardsOfAMillion sends a recording of 1,000,000 records in four files, of
// 50,000 sessions, as 4 and as 16 processes: every record arrives once, the rate
// is that of the whole, and a process that is killed is named.
func TestShardsOfAMillion(t *testing.T) {
	const records, files, sessions = 1_000_000, 4, 50_000
	dir := t.TempDir()
	caddy := filepath.Join(dir, "caddy")
	if out, err := exec.Command("go", "build", "-o", caddy, "../cmd/caddy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	recordings := filepath.Join(dir, "recordings")
	if err := os.Mkdir(recordings, 0o700); err != nil {
		t.Fatal(err)
	}
	for k := range files {
		file, err := os.Create(filepath.Join(recordings, fmt.Sprintf("%d.fbf", k)))
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewWriter(file)
		var e recording.Encoder
		var record []byte
		for i := k; i < records; i += files {
			record = e.Append(record[:0], &recording.Request{
				ID: fmt.Appendf(nil, "r%d", i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d", i), TimeNS: origin + int64(i)*int64(100*time.Microsecond),
				Headers: fmt.Appendf(nil, "Host: shop.test\r\nCookie: sid=%d\r\n\r\n", i%sessions),
			})
			if _, err := out.Write(record); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	arrived := make([]atomic.Int32, records)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i, err := strconv.Atoi(r.URL.Path[1:]); err == nil && i < records {
			arrived[i].Add(1)
		}
	}))
	defer target.Close()

	run := func(shards int, flags ...string) (reports []string, processes []*exec.Cmd) {
		for i := range arrived {
			arrived[i].Store(0)
		}
		at := time.Now().Add(5 * time.Second).UTC().Format(time.RFC3339)
		for k := range shards {
			name := filepath.Join(dir, fmt.Sprintf("%d-of-%d.json", k+1, shards))
			os.Remove(name)
			reports = append(reports, name)
			args := append([]string{
				"replay", "--to", target.URL, "--shard", "auto", "--session", "cookie sid", "-c", "8", "--start-at", at, "--report", "json=" + name, "-q", "--fail", "errors=0",
			}, flags...)
			cmd := exec.Command(caddy, append(args, recordings)...)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", indexVariable, k), fmt.Sprintf("%s=%d", countVariable, shards))
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			processes = append(processes, cmd)
		}
		return reports, processes
	}
	whole := func(reports []string) report.Target {
		name := filepath.Join(dir, "whole.json")
		if out, err := exec.Command(caddy, append([]string{"replay", "report", "--report", "text,json=" + name}, reports...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		return r.Targets[0]
	}
	for _, shards := range []int{4, 16} {
		reports, processes := run(shards, "--max")
		for _, p := range processes {
			if err := p.Wait(); err != nil {
				t.Errorf("%d shards: %v", shards, err)
			}
		}
		for i := range arrived {
			if n := arrived[i].Load(); n != 1 {
				t.Fatalf("%d shards: record %d arrived %d times", shards, i, n)
			}
		}
		sum := whole(reports)
		t.Logf("%d shards: %d requests, %.0f/s, p99 %.2f ms", shards, sum.Requests, sum.Rate, sum.Latency.P99MS)
		if sum.Requests != records || sum.Latency.Count != records {
			t.Errorf("%d shards: %d requests, %d times", shards, sum.Requests, sum.Latency.Count)
		}
	}
	const rate = 2000
	reports, processes := run(4, "--rate", fmt.Sprintf("%d/s", rate), "--duration", "20s")
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	if sum := whole(reports); sum.Requests != 20*rate || sum.RateAsked != rate || sum.Rate < 0.98*rate || sum.Rate > 1.02*rate {
		t.Errorf("%d requests at %v/s, asked for %v/s", sum.Requests, sum.Rate, sum.RateAsked)
	}
	reports, processes = run(4, "--rate", fmt.Sprintf("%d/s", rate), "--duration", "20s")
	time.AfterFunc(8*time.Second, func() { _ = processes[2].Process.Kill() })
	for k, p := range processes {
		if err := p.Wait(); (err != nil) != (k == 2) {
			t.Errorf("shard %d: %v", k+1, err)
		}
	}
	out, err := exec.Command(caddy, "replay", "report", reports[0], reports[1], reports[3]).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "of 4 shards the report of 3 is missing") {
		t.Errorf("%v: %s", err, out)
	}
}
