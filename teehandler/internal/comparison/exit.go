// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2"
)

// ended are runs that nobody looks at any more, as long as they have pairs that
// wait or are compared.
var ended struct {
	sync.Mutex
	runs []*run
}

// end has the process wait for the pairs of a run when it exits.
func (r *run) end() {
	ended.Lock()
	defer ended.Unlock()
	ended.runs = append(slices.DeleteFunc(ended.runs, (*run).idle), r)
}

// uncompared counts the pairs that were not compared since Caddy began to exit:
// nobody may come to read the metrics that have them.
var uncompared atomic.Int64

// Finish returns when all pairs of comparisons that were released are compared
// and saved, or counted because they lack a response. It is called when Caddy
// exits, once no copy is on its way, and before recorders are closed. What it
// waits for is bounded by what a pool holds.
func Finish() {
	ended.Lock()
	defer ended.Unlock()
	var closing sync.WaitGroup
	for _, r := range ended.runs {
		closing.Go(r.close)
	}
	closing.Wait()
	if n := uncompared.Load(); n > 0 {
		caddy.Log().Named("http.handlers.tee").Warn("exiting: some pairs of responses were not compared", zap.Int64("pairs", n))
	}
}
