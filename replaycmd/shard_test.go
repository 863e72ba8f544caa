// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
)

// merge runs `caddy replay report`.
func merge(t *testing.T, args ...string) outcome {
	t.Helper()
	p := new(redrawing)
	return execute(t, t.Context(), nil, p, args)
}

// buckets returns how many times a histogram has of each value.
func buckets(t *testing.T, l report.Latency) map[int64]int64 {
	t.Helper()
	h, err := hdrhistogram.Decode([]byte(l.Histogram))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[int64]int64)
	for _, bar := range h.Distribution() {
		if bar.Count > 0 {
			counts[bar.From] = bar.Count
		}
	}
	return counts
}

// TestShardsAddUp sends one recording of sessions as four shards, one of them
// twice as late as the others: every record arrives once, a session's from one
// shard, and the reports add up to that of the whole.
func TestShardsAddUp(t *testing.T) {
	const records, sessions, count = 4000, 300, 4
	var requests []*recording.Request
	random := rand.New(rand.NewPCG(1, 2))
	for i := range records {
		r := &recording.Request{
			ID: fmt.Appendf(nil, "r%d", i), Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d?s=%d", i, i), TimeNS: origin + int64(i)*int64(time.Millisecond),
			Headers: fmt.Appendf(nil, "Host: shop.test\r\nCookie: sid=s%d\r\n\r\n", random.IntN(sessions)),
		}
		requests = append(requests, r)
	}
	file := writeRequests(t, "all.fbf", requests)
	var mu sync.Mutex
	arrived := make(map[string]int)
	shardOf := make(map[string]string)
	target := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		arrived[r.URL.Path]++
		session, shard := r.Header.Get("Cookie"), r.Header.Get("Shard")
		if was, known := shardOf[session]; known && was != shard {
			t.Errorf("%s comes from %s and from %s", session, was, shard)
		}
		shardOf[session] = shard
	})
	dir := t.TempDir()
	var files []string
	sent := make([]report.Report, count)
	for i := range count {
		name := filepath.Join(dir, fmt.Sprintf("%d.json", i+1))
		files = append(files, name)
		// the header is the shard's own here, unlike a real run's
		o := replay(t, "--to", target.url, "--shard", fmt.Sprintf("%d/%d", i+1, count), "--session", "cookie sid", "--max", "-c", "4", "--by", "method",
			"--header", "Shard: "+strconv.Itoa(i+1), "--fail", "errors=0", "--fail", "p99<1h", "--report", "json="+name, file)
		if o.status != 0 {
			t.Fatalf("shard %d: status %d: %s", i+1, o.status, o.stderr)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &sent[i]); err != nil {
			t.Fatal(err)
		}
		if n := sent[i].Targets[0].Requests; n < records/count/2 || n > records/count*2 {
			t.Errorf("shard %d has %d of %d records", i+1, n, records)
		}
	}
	if len(arrived) != records {
		t.Errorf("%d records of %d arrived", len(arrived), records)
	}
	for path, n := range arrived {
		if n != 1 {
			t.Errorf("%s arrived %d times", path, n)
		}
	}
	whole := filepath.Join(dir, "whole.json")
	slices.Reverse(files)
	if o := merge(t, append([]string{"--report", "text,json=" + whole}, files...)...); o.status != 0 || !strings.Contains(o.stdout, "all of 4 shards") {
		t.Fatalf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := report.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	got := sum.Targets[0]
	if got.Requests != records || got.Answers != records || got.Status["200"] != records || got.By[0].Requests != records || len(sum.Checks) != 2 || sum.Shards != count {
		t.Errorf("%+v", got)
	}
	for _, of := range []struct {
		name string
		get  func(*report.Target) report.Latency
	}{
		{"latency", func(t *report.Target) report.Latency { return t.Latency }},
		{"service", func(t *report.Target) report.Latency { return t.Service }},
		{"lateness", func(t *report.Target) report.Latency { return t.Lateness }},
		{"class", func(t *report.Target) report.Latency { return t.By[0].Latency }},
	} {
		want := make(map[int64]int64)
		longest := 0.0
		for i := range sent {
			l := of.get(&sent[i].Targets[0])
			longest = max(longest, l.MaxMS)
			for value, n := range buckets(t, l) {
				want[value] += n
			}
		}
		l := of.get(&got)
		if have := buckets(t, l); len(have) != len(want) || l.Count != records || l.MaxMS != longest {
			t.Errorf("%s: %d values of %d, %d of %d times, at most %v of %v", of.name, len(have), len(want), l.Count, records, l.MaxMS, longest)
		} else {
			for value, n := range want {
				if have[value] != n {
					t.Errorf("%s: %d times %d ns, want %d", of.name, have[value], value, n)
				}
			}
		}
	}
	var due, ok int64
	for _, m := range got.Timeline {
		due += m.Due
		ok += m.OK
	}
	if due != records || ok != records {
		t.Errorf("the timeline has %d due and %d answered of %d", due, ok, records)
	}
}

// TestShardsThatAreNotOfOneRun is refused with what is wrong.
func TestShardsThatAreNotOfOneRun(t *testing.T) {
	target := serve(t, nil)
	dir := t.TempDir()
	small, large := write(t, "all.fbf", 20, 0), write(t, "all.fbf", 30, 0)
	make := func(name, file string, args ...string) string {
		name = filepath.Join(dir, name)
		if o := replay(t, append(args, "--to", target.url, "--max", "--report", "json="+name, file)...); o.status != 0 {
			t.Fatalf("%s: status %d: %s", name, o.status, o.stderr)
		}
		return name
	}
	one, two, three := make("1.json", small, "--shard", "1/3"), make("2.json", small, "--shard", "2/3"), make("3.json", small, "--shard", "3/3")
	again := make("again.json", small, "--shard", "2/3")
	whole := make("whole.json", small)
	other := make("other.json", large, "--shard", "3/3")
	four := make("four.json", small, "--shard", "3/4")
	command := make("command.json", small, "--shard", "3/3", "--timeout", "3s")
	for _, tc := range []struct {
		files []string
		want  string
	}{
		{[]string{one, two, three}, ""},
		{[]string{one, three}, "of 3 shards the report of 2 is missing"},
		{[]string{two}, "of 3 shards the report of 1, 3 is missing"},
		{[]string{one, two, again}, two + " and " + again + " are both of shard 2"},
		{[]string{one, two, whole}, whole + " is not of a shard"},
		{[]string{one, two, other}, "are of other recordings"},
		{[]string{one, two, four}, one + " is one of 3 shards, and " + four + " one of 4"},
		{[]string{one, two, command}, "--timeout 3s"},
	} {
		o := merge(t, tc.files...)
		if tc.want == "" && (o.status != 0 || !strings.Contains(o.stdout, "all of 3 shards")) {
			t.Errorf("%v: status %d: %s%s", tc.files, o.status, o.stdout, o.stderr)
		}
		if tc.want != "" && (o.status != exitNotStarted || !strings.Contains(o.stderr, tc.want)) {
			t.Errorf("%v: status %d: %s\nwant %s", tc.files, o.status, o.stderr, tc.want)
		}
	}
}

// TestShardsKeepTheWholesTime has two shards of a rate: each request is due when
// it would be if one machine sent all.
func TestShardsKeepTheWholesTime(t *testing.T) {
	file := write(t, "all.fbf", 40, 25*time.Millisecond)
	for _, pace := range [][]string{{"--rate", "40/s"}, {"--speed", "1x"}} {
		var total int64
		for _, shard := range []string{"1/2", "2/2"} {
			target := serve(t, nil)
			o := replay(t, append(pace, "--to", target.url, "--shard", shard, "--report", "json", file)...)
			var r report.Report
			if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.status != 0 {
				t.Fatalf("status %d: %v %s", o.status, err, o.stderr)
			}
			total += r.Targets[0].Requests
			// the last own request of either is among the last of the whole
			if last := r.Targets[0].LastStartedMS; last < 700 {
				t.Errorf("%v, shard %s: its last request started after %v ms, and the whole takes 975", pace, shard, last)
			}
			if asked := r.Targets[0].RateAsked; pace[0] == "--rate" && asked != 20 {
				t.Errorf("shard %s: %v/s are asked for", shard, asked)
			}
		}
		if total != 40 {
			t.Errorf("%v: %d requests of 40 were sent", pace, total)
		}
	}
	// -n and --duration are of the whole as well
	for _, flags := range [][]string{{"-n", "30", "--max"}, {"--duration", "750ms"}} {
		var total int64
		for _, shard := range []string{"1/2", "2/2"} {
			target := serve(t, nil)
			o := replay(t, append(flags, "--to", target.url, "--shard", shard, "--report", "json", file)...)
			var r report.Report
			if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.status != 0 {
				t.Fatalf("%v: status %d: %v %s", flags, o.status, err, o.stderr)
			}
			total += r.Targets[0].Requests
		}
		if total != 30 {
			t.Errorf("%v: %d requests of 30 were sent", flags, total)
		}
	}
}

// TestShardsOfAURL send its requests once.
func TestShardsOfAURL(t *testing.T) {
	var total int
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		target := serve(t, nil)
		if o := replay(t, target.url+"/", "-n", "100", "--shard", shard); o.status != 0 {
			t.Fatalf("status %d: %s", o.status, o.stderr)
		}
		total += len(target.requests)
	}
	if total != 100 {
		t.Errorf("%d requests of 100 were sent", total)
	}
}

func TestBadShards(t *testing.T) {
	file := write(t, "all.fbf", 3, 0)
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--shard", "0/4"}, "'0/4' is not a shard: expected one like 2/4"},
		{[]string{"--shard", "5/4"}, "'5/4' is not a shard"},
		{[]string{"--shard", "1"}, "'1' is not a shard"},
		{[]string{"--shard", "auto"}, "auto needs the variable JOB_COMPLETION_INDEX: '' is not a number from 0"},
		{[]string{"--shard", "1/2", "--links", "auto"}, "expected --links FILE"},
		{[]string{"--shard", "1/2", "--find-rate", "errors=0"}, "--find-rate is about all requests"},
		{[]string{"--shard", "1/2", "--test"}, "--test is about all requests"},
	} {
		o := replay(t, append(tc.args, "--to", "127.0.0.1:1", file)...)
		if o.status != exitNotStarted || !strings.Contains(o.stderr, tc.want) {
			t.Errorf("%v: status %d: %s\nwant %s", tc.args, o.status, o.stderr, tc.want)
		}
	}
	for _, tc := range []struct{ index, count, want string }{
		{"3", "4", ""}, {"4", "4", "expected one that is less"}, {"0", "", "REHEARSAL_SHARDS"}, {"-1", "4", "JOB_COMPLETION_INDEX"},
	} {
		s, err := shardOfEnvironment(tc.index, tc.count)
		if tc.want == "" && (err != nil || s.index != 4 || s.count != 4) {
			t.Errorf("%+v: %+v, %v", tc, s, err)
		}
		if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// TestShardsWithoutRequests are no failure: another has all that there is.
func TestShardsWithoutRequests(t *testing.T) {
	target := serve(t, nil)
	file, dir := write(t, "one.fbf", 1, 0), t.TempDir()
	var reports []string
	for _, shard := range []string{"1", "2", "3"} {
		name := filepath.Join(dir, shard+".json")
		reports = append(reports, name)
		if o := replay(t, "--to", target.url, "--shard", shard+"/3", "--report", "json="+name, file); o.status != 0 {
			t.Errorf("shard %s: status %d: %s", shard, o.status, o.stderr)
		}
	}
	if o := merge(t, reports...); o.status != 0 || len(target.requests) != 1 {
		t.Errorf("status %d: %s%s, %d requests", o.status, o.stdout, o.stderr, len(target.requests))
	}
}

// TestDryRunOfAShard counts what the shard would send.
func TestDryRunOfAShard(t *testing.T) {
	file := write(t, "all.fbf", 1000, 0)
	o := replay(t, "--dry-run", "--shard", "1/4", file)
	if o.status != 0 || !strings.Contains(o.stdout, "1 of 4") || strings.Contains(o.stdout, "1,000 to each") {
		t.Errorf("status %d: %s%s", o.status, o.stdout, o.stderr)
	}
}
