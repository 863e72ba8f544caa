// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/http1"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// numbered has n requests for /0, /1 and so on, 1 ms apart.
type numbered struct {
	n, next int
	request recording.Request
}

func (r *numbered) Next() (*recording.Request, error) {
	if r.next == r.n {
		return nil, io.EOF
	}
	r.request = recording.Request{
		Method: []byte("GET"), URI: fmt.Appendf(nil, "/%d", r.next), Host: []byte("a"),
		TimeNS: 1_800_000_000_000_000_000 + int64(r.next)*int64(time.Millisecond),
	}
	r.next++
	return &r.request, nil
}

// countedServer is a target that counts.
type countedServer struct {
	target   send.Target
	accepted atomic.Int64
	mu       sync.Mutex
	paths    []string
}

func serveCounted(t *testing.T, handler http.HandlerFunc) *countedServer {
	t.Helper()
	s := new(countedServer)
	hs := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.paths = append(s.paths, r.URL.Path)
		s.mu.Unlock()
		if handler != nil {
			handler(w, r)
		}
	}))
	hs.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.accepted.Add(1)
		}
	}
	hs.Start()
	t.Cleanup(hs.Close)
	var err error
	if s.target, err = send.ParseTarget(hs.URL); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *countedServer) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// hang keeps a request until its client leaves.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func deliver(t *testing.T, run *delivery, ctx context.Context) ([]report.Result, error) {
	t.Helper()
	if run.options.Timeout == 0 {
		run.options.Timeout = 30 * time.Second
	}
	if run.connections == 0 {
		run.connections = 10
	}
	if run.classes == nil {
		run.classes = report.NewClasses(run.by)
	}
	run.prepare()
	return run.send(ctx)
}

func TestEveryRequestIsSentOnceOverFewConnections(t *testing.T) {
	for name, plan := range map[string]schedule.Schedule{"max": {}, "rate": {Rate: schedule.Steady(4000)}, "times": {Speed: 10}} {
		s := serveCounted(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/7" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			w.Write(make([]byte, 4096))
		})
		results, err := deliver(t, &delivery{records: &numbered{n: 2000}, targets: []send.Target{s.target}, schedule: plan}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := s.got()
		slices.Sort(got)
		if n := len(slices.Compact(got)); n != 2000 || len(got) != 2000 {
			t.Errorf("%s: the server got %d requests, %d different", name, len(got), n)
		}
		if r := results[0]; r.Answered != 2000 || r.Status[500] != 1 || r.Errors() != 0 || r.Received < 2000*4096 {
			t.Errorf("%s: got %d answers, %d errors", name, r.Answered, r.Errors())
		}
		if n := s.accepted.Load(); n > 10 || results[0].Connections != n {
			t.Errorf("%s: %d connections, %d reported", name, n, results[0].Connections)
		}
	}
}

func TestRequestsAreNeverEarly(t *testing.T) {
	for name, plan := range map[string]schedule.Schedule{
		"rate": {Rate: schedule.Steady(400)}, "times": {Speed: 0.5}, "delay": {MinDelay: 2 * time.Millisecond}, "delay wins": {Rate: schedule.Steady(1e6), MinDelay: 2 * time.Millisecond},
	} {
		var earliest atomic.Int64
		start := time.Now()
		s := serveCounted(t, func(_ http.ResponseWriter, r *http.Request) {
			var n int
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			if early := time.Since(start) - time.Duration(n)*2*time.Millisecond; early < 0 {
				earliest.Store(int64(early))
			}
		})
		results, err := deliver(t, &delivery{records: &numbered{n: 200}, targets: []send.Target{s.target}, schedule: plan}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if early := time.Duration(earliest.Load()); early < 0 {
			t.Errorf("%s: a request was early by %v", name, -early)
		}
		if r := results[0]; r.Answered != 200 || r.Elapsed() < 398*time.Millisecond {
			t.Errorf("%s: %d answers in %v", name, r.Answered, r.Elapsed())
		}
	}
}

// While the target stalls no request can start, but those that are due then
// count from when they were due.
func TestAStalledTargetCannotHideWhatWaits(t *testing.T) {
	var stalled sync.Once
	s := serveCounted(t, func(http.ResponseWriter, *http.Request) { stalled.Do(func() { time.Sleep(time.Second) }) })
	results, err := deliver(t, &delivery{
		records: &numbered{n: 150}, targets: []send.Target{s.target}, schedule: schedule.Schedule{Rate: schedule.Steady(100)}, connections: 1,
	}, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if r.Answered != 150 || r.Late < 80 || r.Latency.At(50) < 100*time.Millisecond {
		t.Errorf("%d answers, %d late, half of them within %v", r.Answered, r.Late, r.Latency.At(50))
	}
	if r.Service.At(50) >= r.Latency.At(50) {
		t.Errorf("service time %v is not below latency %v", r.Service.At(50), r.Latency.At(50))
	}
}

func TestTargetsGetTheSameRequests(t *testing.T) {
	for name, plan := range map[string]schedule.Schedule{"max": {}, "rate": {Rate: schedule.Steady(5000)}} {
		a, b, c := serveCounted(t, nil), serveCounted(t, nil), serveCounted(t, nil)
		results, err := deliver(t, &delivery{
			records: &numbered{n: 3000}, targets: []send.Target{a.target, b.target, c.target}, schedule: plan, connections: 1,
		}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.got(), b.got()) || !slices.Equal(a.got(), c.got()) || len(a.got()) != 3000 {
			t.Errorf("%s: the targets got %d, %d and %d requests", name, len(a.got()), len(b.got()), len(c.got()))
		}
		for _, r := range results {
			if r.Answered != 3000 {
				t.Errorf("%s: %s has %d answers", name, r.Name, r.Answered)
			}
		}
	}
}

func TestNoTargetIsFarAheadOfAHangingOne(t *testing.T) {
	good, hanging := serveCounted(t, nil), serveCounted(t, hang)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(good.got()) < 1024 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		cancel()
	}()
	results, err := deliver(t, &delivery{
		records: &numbered{n: 1 << 30}, targets: []send.Target{good.target, hanging.target}, connections: 4,
	}, ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(good.got()); n > 1024+4 {
		t.Errorf("it got %d requests", n)
	}
	if n := results[1].Failures["interrupted"]; n != 4 || results[1].Errors() != 0 {
		t.Errorf("%d requests were interrupted, %d errors", n, results[1].Errors())
	}
}

func TestOneRequestForAllGoesAtEachTargetsOwnPace(t *testing.T) {
	good, hanging := serveCounted(t, nil), serveCounted(t, hang)
	results, err := deliver(t, &delivery{
		records: always{}, same: true, requests: 3000, targets: []send.Target{good.target, hanging.target},
		options: send.Options{Timeout: 200 * time.Millisecond}, duration: 100 * time.Millisecond,
	}, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Requests == 0 || results[1].Failures["timeout"] != 10 {
		t.Errorf("got %d answers and %d timeouts", results[0].Answered, results[1].Failures["timeout"])
	}
}

func TestAHangingTargetDoesNotProlongTheDuration(t *testing.T) {
	s := serveCounted(t, hang)
	before := runtime.NumGoroutine()
	var most atomic.Int64
	run := &delivery{
		records: &numbered{n: 1 << 30}, targets: []send.Target{s.target}, connections: 2,
		schedule: schedule.Schedule{Rate: schedule.Steady(1000)}, duration: time.Second, options: send.Options{Timeout: 300 * time.Millisecond},
		rows: func(int, report.Row) { most.Store(max(most.Load(), int64(runtime.NumGoroutine()-before))) },
	}
	results, err := deliver(t, run, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if r.Requests+r.Unsent != 1000 || r.Unsent == 0 || r.Failures["timeout"] != r.Requests || r.Answered != 0 {
		t.Errorf("%d requests, %d unsent, %d timeouts", r.Requests, r.Unsent, r.Failures["timeout"])
	}
	if most.Load() > 50 {
		t.Errorf("there were %d more goroutines", most.Load())
	}
}

func TestTheRunEndsWithItsContext(t *testing.T) {
	s := serveCounted(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	results, err := deliver(t, &delivery{
		records: &numbered{n: 1 << 30}, targets: []send.Target{s.target}, schedule: schedule.Schedule{Rate: schedule.Steady(0.001)}, connections: 2,
	}, ctx)
	if err != nil || results[0].Failures["interrupted"] != 1 || results[0].Requests != 1 {
		t.Errorf("got %d requests, error %v", results[0].Requests, err)
	}
}

func TestStopAtFailure(t *testing.T) {
	s := serveCounted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/5" {
			panic(http.ErrAbortHandler)
		}
	})
	_, err := deliver(t, &delivery{
		records: &numbered{n: 1 << 30}, targets: []send.Target{s.target}, connections: 1, stopAtFailure: true,
	}, t.Context())
	if kind := http1.KindOf(err); err == nil || kind != http1.Closed && kind != http1.Reset {
		t.Errorf("got error %v", err)
	}
}

func TestAFailingSourceEndsTheRun(t *testing.T) {
	s := serveCounted(t, nil)
	broken := errors.New("broken")
	results, err := deliver(t, &delivery{records: failing{broken}, targets: []send.Target{s.target, s.target}}, t.Context())
	if !errors.Is(err, broken) || results[0].Requests != 0 {
		t.Errorf("got error %v", err)
	}
}

type always struct{}

func (always) Next() (*recording.Request, error) { return &one, nil }

var one = recording.Request{Method: []byte("GET"), URI: []byte("/"), Host: []byte("a")}

type failing struct{ err error }

func (f failing) Next() (*recording.Request, error) { return nil, f.err }

func TestRecordsThatAreNoRequestsAreCounted(t *testing.T) {
	s := serveCounted(t, nil)
	bad := &recording.Request{Method: []byte("GET"), URI: []byte("/ HTTP/1.1\r\nX: y")}
	results, err := deliver(t, &delivery{records: &repeated{bad, 3}, targets: []send.Target{s.target}}, t.Context())
	if err != nil || results[0].Failures["unsendable"] != 3 || len(s.got()) != 0 {
		t.Errorf("%d unsendable, error %v", results[0].Failures["unsendable"], err)
	}
}

type repeated struct {
	request *recording.Request
	n       int
}

func (r *repeated) Next() (*recording.Request, error) {
	if r.n == 0 {
		return nil, io.EOF
	}
	r.n--
	return r.request, nil
}

func TestClassesOfARun(t *testing.T) {
	for by, want := range map[report.By]string{report.ByPath: "/*", report.ByMethod: "GET", report.ByStatus: "200"} {
		s := serveCounted(t, nil)
		run := &delivery{records: &numbered{n: 20}, targets: []send.Target{s.target}, by: by, classes: report.NewClasses(by)}
		results, err := deliver(t, run, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for number, class := range results[0].Classes {
			name := fmt.Sprint(number)
			if by != report.ByStatus {
				name = run.classes.Name(number)
			}
			if name != want || class.Requests != 20 {
				t.Errorf("by %s: got %s with %d requests", by, name, class.Requests)
			}
		}
		if len(results[0].Classes) != 1 {
			t.Errorf("by %s: there are %d classes", by, len(results[0].Classes))
		}
	}
}
