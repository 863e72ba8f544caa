// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// TestBackgroundFetchesTakeTurns holds that however many origins there are, few
// are asked at the same time, and that starting the clock again adds none.
func TestBackgroundFetchesTakeTurns(t *testing.T) {
	var now, most atomic.Int64
	closed := make(chan struct{})
	release := sync.OnceFunc(func() { close(closed) })
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-closed
		now.Add(-1)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(release)
	var recipes []string
	for i := range 50 {
		recipes = append(recipes, fmt.Sprintf(`{"route":"/%d","origin":%q,"stages":[{}]}`, i, server.URL))
	}
	s := play(t, "["+strings.Join(recipes, ",")+"]")
	if err := s.Begin(zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return now.Load() == atOnce })
	release()
	eventually(t, func() bool {
		for i := range 50 {
			if ask(t, s, fmt.Sprintf("/%d", i)).Status != 200 {
				return false
			}
		}
		return true
	})
	if n := most.Load(); n > atOnce {
		t.Errorf("%d were asked at the same time", n)
	}
}

// TestRewoundRouteIsFetchedByOne holds that what fetched for a route ends when
// the route is replaced, even in the middle.
func TestRewoundRouteIsFetchedByOne(t *testing.T) {
	var now, asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		now.Add(1)
		<-r.Context().Done()
		now.Add(-1)
	}))
	t.Cleanup(server.Close)
	s := play(t, `{"origin":"`+server.URL+`","stages":[{}]}`)
	if err := s.Begin(zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	for i := range int64(5) {
		eventually(t, func() bool { return asked.Load() == i+1 && now.Load() == 1 })
		if err := s.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() bool { return asked.Load() == 6 && now.Load() == 1 })
	s.Forget()
	eventually(t, func() bool { return now.Load() == 0 && len(s.fetching) == 0 })
}

// TestLogsGoToTheConfigurationInForce holds for what goes on in the background,
// whichever configuration began it.
func TestLogsGoToTheConfigurationInForce(t *testing.T) {
	first, _ := observer.New(zap.InfoLevel)
	second, logs := observer.New(zap.InfoLevel)
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-answer }))
	t.Cleanup(server.Close)
	s := play(t, `{"origin":"`+server.URL+`","stages":[{}]}`)
	if err := s.Begin(zap.New(first)); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(zap.New(second)); err != nil {
		t.Fatal(err)
	}
	close(answer)
	eventually(t, func() bool { return logs.FilterMessage("fetched origin").Len() == 1 })
}
