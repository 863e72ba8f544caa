// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package teehandler

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestHostileResponsesShareABudget has a shadow, and the twin of the primary, send
// bodies as large as are compared, or as large heads, for many requests at the same
// time, and then hang. What goes beyond 64 MiB is not compared, and counted; later
// requests have that memory again.
func TestHostileResponsesShareABudget(t *testing.T) {
	const size, requests, budget = 4 << 20, 60, 64 << 20
	large := strings.Repeat("x", size)
	var written atomic.Int64
	var release atomic.Pointer[chan struct{}]
	hostile := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/head" {
			for i := range 16 {
				w.Header().Set(fmt.Sprint("X-Large-", i), large[:60<<10])
			}
		} else {
			w.Header().Set("Content-Length", fmt.Sprint(size+1))
		}
		_, _ = io.WriteString(w, large)
		_ = http.NewResponseController(w).Flush()
		written.Add(1)
		<-*release.Load()
		_, _ = io.WriteString(w, "x")
	}
	primary := newUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "small") })
	shadow, twin := newUpstream(t, hostile), newUpstream(t, hostile)
	_, addr := run(t, func(addr string) string {
		return teeSite(t, addr, primary.addr(), shadow.addr(), "timeout 60s\nadmin\ncompare {\nmax_body 4MiB\nnoise "+twin.addr()+"\n}")
	})
	before := heap()
	pairs, shed, alone := int64(0), int64(0), int64(0)
	for round, path := range []string{"/body", "/head", "/body"} {
		opened := make(chan struct{})
		release.Store(&opened)
		written.Store(0)
		var clients sync.WaitGroup
		for i := range requests {
			clients.Go(func() {
				if _, body := get(t, oneShot, fmt.Sprintf("http://%s%s?%d", addr, path, i)); body != "small" {
					t.Errorf("client got %q", body)
				}
			})
		}
		clients.Wait()
		eventually(t, "responses", func() (string, bool) { return fmt.Sprint(written.Load()), written.Load() == 2*requests })
		if used := heap() - before; used > budget+40<<20 {
			t.Errorf("round %d: %d MiB are held, of at most %d", round, used>>20, budget>>20)
		}
		close(opened)
		found := table(t, addr, int64(round+1)*requests+alone)
		gone := found.Partial["shed"] + found.Partial["no_twin"]
		if path == "/body" && gone-shed < requests-budget/size {
			t.Errorf("round %d: %d pairs were compared, %d not: %v", round, found.Pairs-pairs, gone-shed, found.Partial)
		}
		pairs, shed = found.Pairs, gone

		// Of those at the same time it may be that no pair has both its bodies; one by
		// itself has all the memory that they had.
		get(t, oneShot, fmt.Sprintf("http://%s/body?alone", addr))
		alone++
		if found = table(t, addr, int64(round+1)*requests+alone); found.Pairs != pairs+1 {
			t.Errorf("round %d: a pair by itself was not compared: %v", round, found.Partial)
		}
		pairs = found.Pairs
	}
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
