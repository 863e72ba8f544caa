// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/recording"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/report"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/schedule"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/send"
)

const soon = 20 * time.Second

// ends fails the test if a run doesn't end.
func ends(t *testing.T, run *delivery) []report.Result {
	t.Helper()
	ended := make(chan []report.Result)
	go func() {
		results, err := deliver(t, run, t.Context())
		if err != nil && !run.stopAtFailure {
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

// swelling has two small requests and then such that few of them are as much
// as a target may be ahead.
type swelling struct{ n int }

func (s *swelling) Next() (*recording.Request, error) {
	s.n++
	r := &recording.Request{Method: []byte("POST"), URI: []byte("/"), Host: []byte("a")}
	if s.n > 2 {
		r.Body = make([]byte, 64<<20/2+1)
	}
	return r, nil
}

// A target that waits for a slower one is not woken by that when it has stopped
// sending.
func TestTheDurationEndsATargetThatIsAhead(t *testing.T) {
	ends(t, &delivery{
		records: new(swelling), targets: []send.Target{serveCounted(t, nil).target, serveCounted(t, hang).target}, connections: 1,
		duration: time.Second, options: send.Options{Timeout: 1500 * time.Millisecond},
	})
}

// idle has n requests and then waits, as a pipe does.
type idle struct {
	numbered
	waits   chan struct{} // closed when it waits
	stopped chan struct{} // closed to end it
	once    sync.Once
}

func newIdle(n int) *idle {
	return &idle{numbered: numbered{n: n}, waits: make(chan struct{}), stopped: make(chan struct{})}
}

func (i *idle) Next() (*recording.Request, error) {
	if i.next < i.n {
		return i.numbered.Next()
	}
	close(i.waits)
	<-i.stopped
	return nil, context.Canceled
}

func (i *idle) stop() { i.once.Do(func() { close(i.stopped) }) }

func TestARunThatWaitsForRecordsEnds(t *testing.T) {
	broken := serveCounted(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, run := range map[string]*delivery{
		"with its duration":              {duration: 50 * time.Millisecond, targets: []send.Target{serveCounted(t, nil).target}},
		"with its duration, at a rate":   {duration: 50 * time.Millisecond, schedule: schedule.Schedule{Rate: schedule.Steady(1000)}, targets: []send.Target{serveCounted(t, nil).target}},
		"with its duration, two targets": {duration: 50 * time.Millisecond, targets: []send.Target{serveCounted(t, nil).target, serveCounted(t, nil).target}},
		"at the first failure":           {stopAtFailure: true, targets: []send.Target{broken.target}},
	} {
		t.Run(name, func(t *testing.T) {
			source := newIdle(5)
			defer source.stop()
			run.records, run.stopReading = source, source.stop
			if results := ends(t, run); results[0].Requests > 5 {
				t.Errorf("%d requests", results[0].Requests)
			}
		})
	}
}

// What is on the feed can be taken while one target waits for more.
func TestATargetThatWaitsForRecordsHoldsNoOtherUp(t *testing.T) {
	source := newIdle(3)
	defer source.stop()
	first := serveCounted(t, nil)
	second := serveCounted(t, func(http.ResponseWriter, *http.Request) { <-source.waits })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := deliver(t, &delivery{
			records: source, targets: []send.Target{first.target, second.target}, connections: 1,
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
