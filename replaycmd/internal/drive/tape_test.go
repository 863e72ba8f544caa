// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/pace"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

const soon = 20 * time.Second

// ends fails the test if a run doesn't end.
func ends(t *testing.T, run *Run) []Result {
	t.Helper()
	ended := make(chan []Result)
	go func() {
		results, err := drive(t, run, t.Context())
		if err != nil && !run.StopAtFailure {
			t.Error(err)
		}
		ended <- results
	}()
	select {
	case results := <-ended:
		return results
	case <-time.After(soon):
		t.Fatal("the run goes on")
		panic("unreachable")
	}
}

// swelling gives two small requests and then such that few of them are as much
// as a target may be ahead.
type swelling struct{ n int }

func (s *swelling) Next() (*recording.Request, error) {
	s.n++
	r := &recording.Request{Method: []byte("POST"), URI: []byte("/"), Host: []byte("a")}
	if s.n > 2 {
		r.Body = make([]byte, maxAheadBytes/2+1)
	}
	return r, nil
}

// A target that waits for a slower one is not woken by that when it has stopped
// sending.
func TestTheDurationEndsATargetThatIsAhead(t *testing.T) {
	ends(t, &Run{
		Records: new(swelling), Targets: []send.Target{serve(t, nil).target, serve(t, hang).target}, Connections: 1,
		Duration: time.Second, Send: send.Options{Timeout: 1500 * time.Millisecond},
	})
}

// idle gives n requests and then waits, as a pipe does.
type idle struct {
	records
	waits   chan struct{} // closed when it waits
	stopped chan struct{} // closed to end it
	once    sync.Once
}

func newIdle(n int) *idle {
	return &idle{records: records{n: n}, waits: make(chan struct{}), stopped: make(chan struct{})}
}

func (i *idle) Next() (*recording.Request, error) {
	if i.next < i.n {
		return i.records.Next()
	}
	close(i.waits)
	<-i.stopped
	return nil, context.Canceled
}

func (i *idle) stop() { i.once.Do(func() { close(i.stopped) }) }

func TestARunThatWaitsForRecordsEnds(t *testing.T) {
	broken := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, run := range map[string]*Run{
		"with its duration":              {Duration: 50 * time.Millisecond, Targets: []send.Target{serve(t, nil).target}},
		"with its duration, at a rate":   {Duration: 50 * time.Millisecond, Schedule: pace.Schedule{Rate: 1000}, Targets: []send.Target{serve(t, nil).target}},
		"with its duration, two targets": {Duration: 50 * time.Millisecond, Targets: []send.Target{serve(t, nil).target, serve(t, nil).target}},
		"at the first failure":           {StopAtFailure: true, Targets: []send.Target{broken.target}},
	} {
		t.Run(name, func(t *testing.T) {
			source := newIdle(5)
			defer source.stop()
			run.Records, run.StopReading = source, source.stop
			if results := ends(t, run); results[0].Requests > 5 {
				t.Errorf("%d requests", results[0].Requests)
			}
		})
	}
}

// What is on the tape can be taken while one target waits for more.
func TestATargetThatWaitsForRecordsHoldsNoOtherUp(t *testing.T) {
	source := newIdle(3)
	defer source.stop()
	first := serve(t, nil)
	second := serve(t, func(http.ResponseWriter, *http.Request) { <-source.waits })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := drive(t, &Run{
			Records: source, Targets: []send.Target{first.target, second.target}, Connections: 1,
		}, t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(soon); len(second.got()) < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("it got %v", second.got())
			break
		}
	}
	source.stop()
	<-ended
	if !slices.Equal(first.got(), second.got()) {
		t.Errorf("the targets got %v and %v", first.got(), second.got())
	}
}
