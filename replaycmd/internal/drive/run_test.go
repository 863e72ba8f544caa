// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

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

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/measure"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

// records gives n requests for /0, /1 and so on, 1 ms apart.
type records struct {
	n, next int
	request recording.Request
}

func (r *records) Next() (*recording.Request, error) {
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

// server is a target that counts.
type server struct {
	target   send.Target
	accepted atomic.Int64
	mu       sync.Mutex
	paths    []string
}

func serve(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := new(server)
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

func (s *server) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// hang keeps a request until its client leaves.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func drive(t *testing.T, run *Run, ctx context.Context) ([]Result, error) {
	t.Helper()
	if run.Send.Timeout == 0 {
		run.Send.Timeout = 30 * time.Second
	}
	if run.Connections == 0 {
		run.Connections = 10
	}
	if run.Classes == nil {
		run.Classes = measure.NewClasses(run.By)
	}
	run.Start()
	return run.Drive(ctx)
}

func TestEveryRequestIsSentOnceOverFewConnections(t *testing.T) {
	for name, schedule := range map[string]pace.Schedule{"max": {}, "rate": {Rate: 4000}, "times": {Speed: 10}} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/7" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			w.Write(make([]byte, 4096))
		})
		results, err := drive(t, &Run{Records: &records{n: 2000}, Targets: []send.Target{s.target}, Schedule: schedule}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := s.got()
		slices.Sort(got)
		if n := len(slices.Compact(got)); n != 2000 || len(got) != 2000 {
			t.Errorf("%s: the server got %d requests, %d different", name, len(got), n)
		}
		if r := results[0]; r.Answers != 2000 || r.Status[500] != 1 || r.Errors() != 0 || r.Received < 2000*4096 {
			t.Errorf("%s: got %d answers, %d errors", name, r.Answers, r.Errors())
		}
		if n := s.accepted.Load(); n > 10 || results[0].Connections != n {
			t.Errorf("%s: %d connections, %d reported", name, n, results[0].Connections)
		}
	}
}

func TestRequestsAreNeverEarly(t *testing.T) {
	for name, schedule := range map[string]pace.Schedule{
		"rate": {Rate: 400}, "times": {Speed: 0.5}, "delay": {MinDelay: 2 * time.Millisecond}, "delay wins": {Rate: 1e6, MinDelay: 2 * time.Millisecond},
	} {
		var earliest atomic.Int64
		start := time.Now()
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			var n int
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			if early := time.Since(start) - time.Duration(n)*2*time.Millisecond; early < 0 {
				earliest.Store(int64(early))
			}
		})
		results, err := drive(t, &Run{Records: &records{n: 200}, Targets: []send.Target{s.target}, Schedule: schedule}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if early := time.Duration(earliest.Load()); early < 0 {
			t.Errorf("%s: a request was early by %v", name, -early)
		}
		if r := results[0]; r.Answers != 200 || r.Elapsed() < 398*time.Millisecond {
			t.Errorf("%s: %d answers in %v", name, r.Answers, r.Elapsed())
		}
	}
}

// While the target stalls no request can start, but those that are due then
// count from when they were due.
func TestAStalledTargetCannotHideWhatWaits(t *testing.T) {
	var stalled sync.Once
	s := serve(t, func(http.ResponseWriter, *http.Request) { stalled.Do(func() { time.Sleep(time.Second) }) })
	results, err := drive(t, &Run{
		Records: &records{n: 150}, Targets: []send.Target{s.target}, Schedule: pace.Schedule{Rate: 100}, Connections: 1,
	}, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if r.Answers != 150 || r.Late < 80 || r.Latency.At(50) < 100*time.Millisecond {
		t.Errorf("%d answers, %d late, half of them within %v", r.Answers, r.Late, r.Latency.At(50))
	}
	if r.Service.At(50) >= r.Latency.At(50) {
		t.Errorf("service time %v is not below latency %v", r.Service.At(50), r.Latency.At(50))
	}
}

func TestTargetsGetTheSameRequests(t *testing.T) {
	for name, schedule := range map[string]pace.Schedule{"max": {}, "rate": {Rate: 5000}} {
		a, b, c := serve(t, nil), serve(t, nil), serve(t, nil)
		results, err := drive(t, &Run{
			Records: &records{n: 3000}, Targets: []send.Target{a.target, b.target, c.target}, Schedule: schedule, Connections: 1,
		}, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.got(), b.got()) || !slices.Equal(a.got(), c.got()) || len(a.got()) != 3000 {
			t.Errorf("%s: the targets got %d, %d and %d requests", name, len(a.got()), len(b.got()), len(c.got()))
		}
		for _, r := range results {
			if r.Answers != 3000 {
				t.Errorf("%s: %s has %d answers", name, r.Target.Name, r.Answers)
			}
		}
	}
}

func TestNoTargetIsFarAheadOfAHangingOne(t *testing.T) {
	good, hanging := serve(t, nil), serve(t, hang)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(good.got()) < maxAhead {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		cancel()
	}()
	results, err := drive(t, &Run{
		Records: &records{n: 1 << 30}, Targets: []send.Target{good.target, hanging.target}, Connections: 4,
	}, ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(good.got()); n > maxAhead+4 {
		t.Errorf("it got %d requests", n)
	}
	if n := results[1].Failures[send.Interrupted]; n != 4 || results[1].Errors() != 0 {
		t.Errorf("%d requests were interrupted, %d errors", n, results[1].Errors())
	}
}

func TestOneRequestForAllGoesAtEachTargetsOwnPace(t *testing.T) {
	good, hanging := serve(t, nil), serve(t, hang)
	results, err := drive(t, &Run{
		Records: always{}, Same: true, Requests: 3000, Targets: []send.Target{good.target, hanging.target},
		Send: send.Options{Timeout: 200 * time.Millisecond}, Duration: 100 * time.Millisecond,
	}, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Requests == 0 || results[1].Failures[send.Timeout] != 10 {
		t.Errorf("got %d answers and %d timeouts", results[0].Answers, results[1].Failures[send.Timeout])
	}
}

func TestAHangingTargetDoesNotProlongTheDuration(t *testing.T) {
	s := serve(t, hang)
	before := runtime.NumGoroutine()
	var most atomic.Int64
	run := &Run{
		Records: &records{n: 1 << 30}, Targets: []send.Target{s.target}, Connections: 2,
		Schedule: pace.Schedule{Rate: 1000}, Duration: time.Second, Send: send.Options{Timeout: 300 * time.Millisecond},
		Rows: func(int, measure.Row) { most.Store(max(most.Load(), int64(runtime.NumGoroutine()-before))) },
	}
	results, err := drive(t, run, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if r.Requests+r.Unsent != 1000 || r.Unsent == 0 || r.Failures[send.Timeout] != r.Requests || r.Answers != 0 {
		t.Errorf("%d requests, %d unsent, %d timeouts", r.Requests, r.Unsent, r.Failures[send.Timeout])
	}
	if most.Load() > 50 {
		t.Errorf("there were %d more goroutines", most.Load())
	}
}

func TestTheRunEndsWithItsContext(t *testing.T) {
	s := serve(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	results, err := drive(t, &Run{
		Records: &records{n: 1 << 30}, Targets: []send.Target{s.target}, Schedule: pace.Schedule{Rate: 0.001}, Connections: 2,
	}, ctx)
	if err != nil || results[0].Failures[send.Interrupted] != 1 || results[0].Requests != 1 {
		t.Errorf("got %d requests, error %v", results[0].Requests, err)
	}
}

func TestStopAtFailure(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/5" {
			panic(http.ErrAbortHandler)
		}
	})
	_, err := drive(t, &Run{
		Records: &records{n: 1 << 30}, Targets: []send.Target{s.target}, Connections: 1, StopAtFailure: true,
	}, t.Context())
	if kind := send.KindOf(err); err == nil || kind != send.Closed && kind != send.Reset {
		t.Errorf("got error %v", err)
	}
}

func TestAFailingSourceEndsTheRun(t *testing.T) {
	s := serve(t, nil)
	broken := errors.New("broken")
	results, err := drive(t, &Run{Records: failing{broken}, Targets: []send.Target{s.target, s.target}}, t.Context())
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
	s := serve(t, nil)
	bad := &recording.Request{Method: []byte("GET"), URI: []byte("/ HTTP/1.1\r\nX: y")}
	results, err := drive(t, &Run{Records: &repeated{bad, 3}, Targets: []send.Target{s.target}}, t.Context())
	if err != nil || results[0].Failures[send.Unsendable] != 3 || len(s.got()) != 0 {
		t.Errorf("%d unsendable, error %v", results[0].Failures[send.Unsendable], err)
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
	for by, want := range map[measure.By]string{measure.ByPath: "/*", measure.ByMethod: "GET", measure.ByStatus: "200"} {
		s := serve(t, nil)
		run := &Run{Records: &records{n: 20}, Targets: []send.Target{s.target}, By: by, Classes: measure.NewClasses(by)}
		results, err := drive(t, run, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for number, class := range results[0].Classes {
			name := fmt.Sprint(number)
			if by != measure.ByStatus {
				name = run.Classes.Name(number)
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
