// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package blackhole

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-rehearsal/rehearsal/caddyfile/record"
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
	recorder, err := acquire(name, options, zap.NewNop(), metrics)
	if err != nil {
		t.Fatal(err)
	}
	return &Handler{metrics: metrics, recorder: recorder, answer: answer{status: 200}}
}
