// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package rehearsal

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
)

// learnedStage is a stage of a learned recipe.
type learnedStage struct {
	At       string
	Outcomes []struct {
		Status  int
		Percent float64
		Latency string
	}
	from, to time.Duration
}

// shareOf returns the share of a status among all but one of the statuses.
func (s *learnedStage) shareOf(status, except int) float64 {
	rest, part, whole := 100.0, 0.0, 0.0
	for i, o := range s.Outcomes {
		percent := o.Percent
		if i == len(s.Outcomes)-1 {
			percent = rest
		}
		rest -= percent
		if o.Status == status {
			part += percent
		}
		if o.Status != except {
			whole += percent
		}
	}
	return part / whole
}

// TestAnOutageOfAMinuteIsLearned records a service with known outcomes through a
// tee, 200 requests a second for three minutes, of which it fails in the second.
// What is learned of it has the service's shares, percentiles and moments.
func TestAnOutageOfAMinuteIsLearned(t *testing.T) {
	const service = `simulator {
		admin
		body kettle
		stage 0s {
			outcome 429 5ms {
				percent 3
			}
			outcome 200 p50=100ms,p90=200ms,p99=400ms
		}
		stage 60s {
			outcome 503 20ms {
				percent 70
			}
			outcome 200 p50=100ms,p90=200ms,p99=400ms
		}
		stage 120s {
			outcome 429 5ms {
				percent 3
			}
			outcome 200 p50=100ms,p90=200ms,p99=400ms
		}
	}`
	site, behind, dir := caddytest.Addr(t), caddytest.Addr(t), t.TempDir()
	caddytest.Run(t, "http://"+site+" {\ntee {\nrecord "+dir+"\n}\nreverse_proxy "+behind+"\n}\nhttp://"+behind+" {\n"+service+"\n}\n")
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	if resp, err := client.Post("http://"+behind+"/_admin/restart_clock", "", nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	begin := time.Now()
	get := func(addr string, count func(status int)) {
		resp, err := client.Get("http://" + addr + "/items")
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
		count(resp.StatusCode)
	}
	var asking sync.WaitGroup
	for i := range 36_000 {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * 5 * time.Millisecond)))
		asking.Go(func() { get(site, func(int) {}) })
	}
	asking.Wait()
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	await(t, 30*time.Second, "the recording is finished", func() bool {
		unfinished, _ := filepath.Glob(filepath.Join(dir, "*.tmp"))
		return len(unfinished) == 0
	})

	file := filepath.Join(t.TempDir(), "learned.json")
	_, grade, status := learnFrom(t, "--as", "recipe", "-o", file, "--fail", "match>=0.99", "--fail", "mix<0.02", "--fail", "ks<0.1", dir)
	t.Logf("%s", grade)
	if status != 0 {
		t.Errorf("status %d", status)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	var recipes []struct{ Stages []*learnedStage }
	if err := json.Unmarshal(text, &recipes); err != nil || len(recipes) != 1 {
		t.Fatalf("%d recipes, error %v", len(recipes), err)
	}
	holdStages(t, recipes[0].Stages)

	again := caddytest.Addr(t)
	caddytest.Run(t, "http://"+again+" {\nsimulator * "+file+"\n}\n")
	var mu sync.Mutex
	statuses := make(map[int]int)
	for range 40 {
		for range 50 {
			asking.Go(func() { get(again, func(status int) { mu.Lock(); statuses[status]++; mu.Unlock() }) })
		}
		asking.Wait()
	}
	t.Logf("asked 2,000 times at its beginning, it answers %v", statuses)
	if off := math.Abs(float64(statuses[429])/2000 - 0.03); off > 3*sigma(0.03, 2000)+3*sigma(0.03, 12_000) || statuses[200]+statuses[429] != 2000 {
		t.Errorf("statuses %v", statuses)
	}
}

// sigma returns the standard deviation of a share among n.
func sigma(share, n float64) float64 { return math.Sqrt(share * (1 - share) / n) }

// holdStages holds stages to be those of the service.
func holdStages(t *testing.T, stages []*learnedStage) {
	t.Helper()
	outage := []time.Duration{0, 0} // begin, end
	for i, s := range stages {
		s.from, s.to = span(t, s.At), 3*time.Minute
		if i > 0 {
			stages[i-1].to = s.from
		}
		switch failing := s.shareOf(503, 0) > 0.5; {
		case failing && outage[0] == 0:
			outage[0] = s.from
		case !failing && outage[0] > 0 && outage[1] == 0:
			outage[1] = s.from
		}
	}
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute} {
		if off := (outage[i] - want).Abs(); off > 2*time.Second {
			t.Errorf("the outage is from %v to %v", outage[0], outage[1])
		}
	}
	for _, s := range stages {
		failing := s.from >= outage[0] && s.from < outage[1]
		status, except, share := 429, 503, 0.03
		if failing {
			status, except, share = 503, 429, 0.7
		}
		n := 200 * (s.to - s.from).Seconds()
		if got := s.shareOf(status, except); math.Abs(got-share) > 3*sigma(share, n) {
			t.Errorf("stage %s: %.4f of %d, want %.2f within %.4f", s.At, got, status, share, 3*sigma(share, n))
		}
		for _, o := range s.Outcomes {
			if o.Status != 200 {
				continue
			}
			for name, want := range map[string]time.Duration{"p50": 100 * time.Millisecond, "p90": 200 * time.Millisecond, "p99": 400 * time.Millisecond} {
				found := regexp.MustCompile(name + `=([^,]+)`).FindStringSubmatch(o.Latency)
				if found == nil {
					t.Errorf("stage %s: no %s in %s", s.At, name, o.Latency)
				} else if got := span(t, found[1]); (got - want).Abs() > want/10 {
					t.Errorf("stage %s: %s is %v, want %v", s.At, name, got, want)
				}
			}
		}
	}
}

// span reads a duration of a recipe.
func span(t *testing.T, text string) time.Duration {
	t.Helper()
	if text = strings.Trim(text, `"`); text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
