// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/internal/record"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
)

// TestRequestsAfterTheReleaseAreWrittenAtTheEndOfTheProcess has a request come
// when its handler is cleaned up already, as the last copies of a tee may when
// Caddy exits.
func TestRequestsAfterTheReleaseAreWrittenAtTheEndOfTheProcess(t *testing.T) {
	onCaddysPath(t)
	dir := t.TempDir()
	h := lateHandler(t, dir)
	if err := h.Cleanup(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r := httptest.NewRequest("POST", "http://shop.test/", strings.NewReader("late"))
		if err := h.ServeHTTP(httptest.NewRecorder(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	closeReleased()
	if got := records(t, dir); len(got) != 3 || got[0].body != "late" {
		t.Errorf("got %+v", got)
	}
}

// lateHandler gives a handler whose configuration never runs.
func lateHandler(t *testing.T, dir string) *Handler {
	t.Helper()
	name := uniqueName()
	metrics, err := newMetrics(prometheus.NewRegistry(), name)
	if err != nil {
		t.Fatal(err)
	}
	options, err := (&record.Options{Dir: dir}).Resolve()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := acquire(name, options, zap.NewNop(), metrics)
	if err != nil {
		t.Fatal(err)
	}
	return &Handler{metrics: metrics, recorder: shared, answer: answer{status: 200}}
}

// stuckObserver keeps a recorder from getting on, as a disk that takes nothing does.
type stuckObserver struct {
	observer
	released chan struct{}
}

// Recorded waits.
func (o *stuckObserver) Recorded(int, int64, int64) { <-o.released }

// TestExitWaitsForAllStuckDisksAtTheSameTime has recorders released one after
// the other, as Caddy's exit does.
func TestExitWaitsForAllStuckDisksAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	metrics, err := newMetrics(prometheus.NewRegistry(), uniqueName())
	if err != nil {
		t.Fatal(err)
	}
	others := released.recorders
	released.recorders = nil
	defer func() { released.recorders = others }()
	synctest.Test(t, func(t *testing.T) {
		options, err := (&record.Options{Dir: dir}).Resolve()
		if err != nil {
			t.Fatal(err)
		}
		var logger atomic.Pointer[zap.Logger]
		logger.Store(zap.NewNop())
		stuck := &stuckObserver{observer: observer{metrics: metrics, logger: &logger}, released: make(chan struct{})}
		var shared []*sharedRecorder
		for range 3 {
			s := &sharedRecorder{Recorder: recorder.New(options, stuck)}
			draft := s.Begin()
			draft.Add(t.Context())
			draft.Release()
			shared = append(shared, s)
		}
		begun := time.Now()
		for _, s := range shared {
			s.end(true)
		}
		closeReleased()
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("gave up after %s", took)
		}
		close(stuck.released)
	})
	if got := len(files(t, dir)); got != 3 {
		t.Errorf("got %d files", got)
	}
}
